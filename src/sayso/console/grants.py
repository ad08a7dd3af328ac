"""The grants page: each grant in words, with a button to revoke it."""

from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.approvals import Grant
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.forms import found, number_in
from sayso.console.home import HOME
from sayso.console.pages import Pages

_MOST: Final = 500


def grant_routes(pages: Pages) -> list[Route]:
    """Return the routes of the list and of revocation."""
    guard = pages.gateway.guard

    async def listed(request: Request, session: Session) -> Response:
        grants = await guard.approvals.list_grants(_MOST)
        query = request.query_params
        done = _named(grants, query.get("revoked", "")) or _named(grants, query.get("late", ""))
        return await pages.page(
            "grants/grants.html",
            session,
            here="grants",
            holding=[grant for grant in grants if grant.holds],
            over=[grant for grant in grants if not grant.holds],
            done=done,
            is_late="late" in query,
            most=_MOST,
            is_cut=len(grants) == _MOST,
        )

    async def revoke(request: Request, session: Session, _: dict[str, str]) -> Response:
        number = request.path_params["number"]
        grant = found(_named(await guard.approvals.list_grants(_MOST), number))
        about = {
            "server": grant.server,
            "tool": grant.tool,
            "title": grant.title,
            "level": grant.level,
            "client": grant.client,
        }
        has_revoked = await guard.audit.revoke(
            guard.approvals.grants,
            grant.number,
            about,
            by=session.person,
            token=guard.approvals.grant_token(grant.number),
        )
        result = "revoked" if has_revoked else "late"
        return RedirectResponse(f"{HOME}/grants?{result}={number}", 303)

    return [
        Route("/grants", pages.shown(listed)),
        Route("/grants/{number}/revoke", pages.posted(revoke, Role.APPROVER), methods=["POST"]),
    ]


def _named(grants: list[Grant], number: str) -> Grant | None:
    return next((grant for grant in grants if grant.number == number_in(number)), None)
