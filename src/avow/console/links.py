"""The page behind a signed link: one question, for the one person whom the link was made for.

It needs no login: whoever holds the link may answer, and may see nothing else. Opening it answers
nothing, since previews of links open them too.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from avow.approvals import LinkHolder, read_token
from avow.console.answering import answer_of
from avow.console.forms import read_form
from avow.console.pages import Pages
from avow.errors import SealError, UsageError

_CHANNEL = "link"


def link_routes(pages: Pages) -> list[Route]:
    """Looking at the question, and answering it."""
    desk = _Desk(pages)
    return [
        Route("/link", desk.look, methods=["GET"]),
        Route("/link", desk.answer, methods=["POST"]),
    ]


class _Desk:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._guard = pages.gateway.guard

    async def look(self, request: Request) -> Response:
        """The question as it stands."""
        return await self._page(request.query_params.get("token", ""))

    async def answer(self, request: Request) -> Response:
        """Answer as the person whom the link was made for."""
        form = await read_form(request)
        token = form.get("token", "")
        if self._guard.keys is None or _CHANNEL not in self._guard.policy().channels:
            return self._void()
        try:
            holder, approval = await read_token(self._guard.keys, token, self._guard.approvals)
        except SealError:
            return self._void()
        given = answer_of(form, approval, by=holder.person, channel=_CHANNEL, roles=holder.roles)
        if given is None:
            fix = "Nothing was answered. Press Deny or Approve."
            return self._pages.problem(400, "An answer is either deny or allow.", fix)
        try:
            has_counted = await self._guard.approvals.answer(approval.number, given)
        except UsageError as error:
            return self._pages.problem(403, f"{error}.", "Somebody else must answer this one.")
        late = "Your answer came too late, and changed nothing."
        return await self._page(token, "Your answer counts." if has_counted else late)

    async def _page(self, token: str, told: str = "") -> Response:
        if self._guard.keys is None:
            return self._void()
        try:
            holder, approval = await read_token(self._guard.keys, token, self._guard.approvals)
        except SealError:
            return self._void()
        return self._shown(holder, approval, token, told)

    def _shown(self, holder: LinkHolder, approval: object, token: str, told: str) -> Response:
        return self._pages.render(
            "link.html", approval=approval, person=holder.person, token=token, told=told
        )

    def _void(self) -> Response:
        fix = "It was for one question, which is over. Nothing was answered."
        return self._pages.problem(410, "This link no longer works.", fix)
