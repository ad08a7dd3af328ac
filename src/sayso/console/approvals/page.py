"""The approvals page: the queue of questions, and each question's own page."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sayso.approvals import Approval, Approvals, ApprovalState
from sayso.console.approvals.answering import digest_of, person_of
from sayso.console.approvals.queue import SHOWN, load_live, load_queue, look
from sayso.console.approvals.reply import Actions
from sayso.console.approvals.view import view_of
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.forms import found, number_in
from sayso.console.pages import Pages
from sayso.gateway import ClusterCalls

_SECONDS: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?", re.ASCII)
_UNCHANGED: Final = 204


def approval_routes(pages: Pages) -> list[Route]:
    """Return the routes of the queue, of each question with its parts, and of answers."""
    views = _Views(pages)
    actions = Actions(pages, views.asked, views.runs)
    question = "/approvals/{number}"
    return [
        Route("/", pages.shown(views.queue)),
        Route("/approvals/live", pages.shown(views.live)),
        Route("/approvals/waiting", pages.shown(views.waiting)),
        Route(question, pages.shown(views.one)),
        Route(f"{question}/dialog", pages.shown(views.dialog)),
        Route(f"{question}/end", pages.shown(views.end)),
        Route(f"{question}/run", pages.shown(views.run)),
        Route(f"{question}/answer", pages.posted(actions.answer), methods=["POST"]),
        Route(f"{question}/stop", pages.posted(actions.stop), methods=["POST"]),
    ]


class _Views:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._approvals: Approvals = self._guard.approvals
        self.runs = ClusterCalls(self._guard.active_calls, pages.gateway.replica_client)

    async def queue(self, request: Request, session: Session) -> Response:
        answered = await self._find(request.query_params.get("answered", ""))
        late = await self._find(request.query_params.get("late", ""))
        live = await load_live(
            self._guard, self.runs, self._guard.clock(), _query(request), _limit(request)
        )
        notes = [approval for approval in (answered, late) if approval is not None]
        seen = await look(self._guard.audit, self.runs, notes)
        return self._pages.render(
            "approvals/approvals.html",
            session=session,
            queue=live,
            here="approvals",
            notes=notes,
            notes_seen=seen,
            late=late,
        )

    async def live(self, request: Request, session: Session) -> Response:
        text = request.query_params.get("since", "")
        since = self._guard.clock()
        if _SECONDS.fullmatch(text):
            since = float(text)
        live = await load_live(self._guard, self.runs, since, _query(request), _limit(request))
        if request.query_params.get("shown") == live.version:
            return Response(status_code=_UNCHANGED)
        return self._pages.render("approvals/live.html", session=session, queue=live)

    async def waiting(self, _: Request, _session: Session) -> Response:
        return PlainTextResponse(str((await load_queue(self._guard)).waiting))

    async def one(self, request: Request, session: Session) -> Response:
        return await self._question(request, session, "approvals/approval.html")

    async def dialog(self, request: Request, session: Session) -> Response:
        return await self._question(request, session, "approvals/dialog.html")

    async def end(self, request: Request, session: Session) -> Response:
        approval = await self.asked(request)
        is_shown = request.query_params.get("edit", "") == digest_of(approval.edit)
        if approval.state is ApprovalState.PENDING and is_shown:
            return Response(status_code=_UNCHANGED)
        seen = await look(self._guard.audit, self.runs, [approval])
        return self._pages.render(
            "approvals/end.html", session=session, approval=approval, seen=seen
        )

    async def run(self, request: Request, session: Session) -> Response:
        approval = await self.asked(request)
        seen = await look(self._guard.audit, self.runs, [approval])
        return self._pages.render(
            "approvals/run.html", session=session, approval=approval, seen=seen
        )

    async def asked(self, request: Request) -> Approval:
        """Return the question in the URL. Raises `HTTPException` if it does not exist."""
        return found(await self._find(request.path_params["number"]))

    async def _question(self, request: Request, session: Session, template: str) -> Response:
        approval = await self.asked(request)
        view = await view_of(self._guard, self.runs, approval, person_of(session))
        return await self._pages.page(
            template,
            session,
            here="approvals",
            view=view,
            may_answer=session.role.covers(Role.APPROVER),
        )

    async def _find(self, number: str) -> Approval | None:
        known = number_in(number)
        if known is None:
            return None
        return await self._approvals.find(known)


def _query(request: Request) -> str:
    return request.query_params.get("q", "").strip()[:200]


def _limit(request: Request) -> int:
    text = request.query_params.get("most", "")
    if re.fullmatch(r"[0-9]{1,3}", text, re.ASCII):
        return max(SHOWN, int(text))
    return SHOWN
