"""The page of a signed link: one question, for the person whom the link was made for.

The page needs no login, and shows only this question. Opening it does not answer, because link
previews open links too.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.approvals import LinkHolder, read_token
from sayso.console.approvals.answering import Person
from sayso.console.approvals.reply import NEITHER, read_answer, why_not
from sayso.console.approvals.view import view_of
from sayso.console.forms import read_form
from sayso.console.pages import Pages
from sayso.errors import SealError, UsageError
from sayso.gateway import ClusterCalls

_CHANNEL = "link"


def link_routes(pages: Pages) -> list[Route]:
    """Return the routes for viewing and answering the question."""
    endpoints = _Endpoints(pages)
    return [
        Route("/link", endpoints.look, methods=["GET"]),
        Route("/link", endpoints.answer, methods=["POST"]),
    ]


class _Endpoints:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard
        self._runs = ClusterCalls(self._guard.active_calls, pages.gateway.replica_client)

    async def look(self, request: Request) -> Response:
        return await self._page(request.query_params.get("token", ""))

    async def answer(self, request: Request) -> Response:
        form = await read_form(request, is_known=True)
        token = form.get("token", "")
        if self._guard.keys is None or _CHANNEL not in self._guard.policy().channels:
            return self._void()
        try:
            holder, approval = await read_token(self._guard.keys, token, self._guard.approvals)
        except SealError:
            return self._void()
        try:
            answer = await read_answer(self._guard, form, approval, _person(holder))
            if answer is None:
                fix = "Nothing was answered."
                return self._pages.problem(400, NEITHER, fix)
            has_counted = await self._guard.approvals.answer(approval.number, answer)
        except UsageError as error:
            what = f"{error.what[:1].upper()}{error.what[1:]}."
            return self._pages.problem(403, what, error.fix or "Nothing was changed.")
        now = await self._guard.approvals.find(approval.number)
        message = "Your answer was recorded."
        if not has_counted:
            message = why_not(form.get("seen", ""), now)
        return await self._page(token, message)

    async def _page(self, token: str, message: str = "") -> Response:
        if self._guard.keys is None:
            return self._void()
        try:
            holder, approval = await read_token(self._guard.keys, token, self._guard.approvals)
        except SealError:
            return self._void()
        view = await view_of(self._guard, self._runs, approval, _person(holder), sees_others=False)
        return self._pages.render("approvals/link.html", view=view, token=token, message=message)

    def _void(self) -> Response:
        fix = "The question is settled or has expired. Nothing was answered."
        return self._pages.problem(410, "This link no longer works.", fix)


def _person(holder: LinkHolder) -> Person:
    return Person(holder.person, _CHANNEL, holder.roles)
