"""The approvals page: what waits for an answer, and the answering."""

import re
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from avow.approvals import Approval
from avow.console.answering import answer_of
from avow.console.environment import HOME
from avow.console.login import Session
from avow.console.pages import Pages
from avow.console.queue import load_queue
from avow.errors import UsageError

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_CONSOLE: Final = "console"


def approval_routes(pages: Pages) -> list[Route]:
    """The queue, the part of it that is fetched again and again, one question, and its answer."""
    desk = _Desk(pages)
    return [
        Route("/", pages.shown(desk.queue)),
        Route("/approvals/live", pages.shown(desk.live)),
        Route("/approvals/{number}", pages.shown(desk.one)),
        Route("/approvals/{number}/answer", pages.posted(desk.answer), methods=["POST"]),
    ]


class _Desk:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._approvals = self._guard.approvals

    async def queue(self, request: Request, session: Session) -> Response:
        """All that waits, below what became of an answer that was just given."""
        answered = await self._named(request, "answered")
        late = await self._named(request, "late")
        queue = await load_queue(self._guard, answered, late)
        return self._pages.page(
            "approvals.html", session, queue, here="approvals", answered=answered, late=late
        )

    async def live(self, request: Request, session: Session) -> Response:
        """The queue alone, or 204 when the page that asks shows this version already."""
        queue = await load_queue(self._guard)
        if request.query_params.get("seen") == queue.version:
            return Response(status_code=204)
        return self._pages.page("live.html", session, queue)

    async def one(self, request: Request, session: Session) -> Response:
        """One question, whatever became of it."""
        approval = await self._asked(request)
        queue = await load_queue(self._guard, approval)
        return self._pages.page(
            "approval.html", session, queue, here="approvals", approval=approval
        )

    async def answer(self, request: Request, _: Session, form: dict[str, str]) -> Response:
        """Answer one question, once; whoever comes second is told who came first."""
        approval = await self._asked(request)
        given = answer_of(form, approval, by=_CONSOLE, channel=_CONSOLE)
        if given is None:
            fix = "Nothing was answered. Press Deny or Approve."
            return self._pages.problem(400, "An answer is either deny or allow.", fix)
        try:
            has_won = await self._approvals.answer(approval.number, given)
        except UsageError as error:
            return self._pages.problem(403, f"{error}.", "Somebody else must answer this one.")
        told = "answered" if has_won else "late"
        return RedirectResponse(f"{HOME}/?{told}={approval.number}", 303)

    async def _asked(self, request: Request) -> Approval:
        approval = await self._find(request.path_params["number"])
        if approval is None:
            raise HTTPException(404)
        return approval

    async def _named(self, request: Request, key: str) -> Approval | None:
        return await self._find(request.query_params.get(key, ""))

    async def _find(self, number: str) -> Approval | None:
        return await self._approvals.find(int(number)) if _NUMBER.fullmatch(number) else None
