"""Logging in with an issuer: to it, and back from it."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.console.entry.entrance import let_in
from sayso.console.entry.idtoken import EntryError
from sayso.console.entry.oidc import FLOW_SECONDS, Provider, said_of
from sayso.console.home import HOME, is_own
from sayso.console.pages import Pages

PATH = "/login/oidc"


def issuing_routes(pages: Pages) -> list[Route]:
    """The way to the issuer and the way back, where there is one."""
    if pages.provider is None:
        return []
    desk = _Desk(pages, pages.provider)
    return [Route(PATH, desk.begin), Route(f"{PATH}/callback", desk.back)]


class _Desk:
    def __init__(self, pages: Pages, provider: Provider) -> None:
        self._pages = pages
        self._provider = provider
        self._cookie = f"{pages.cookie}_oidc"

    async def begin(self, request: Request) -> Response:
        to = request.query_params.get("to", "")
        try:
            begun = await self._provider.begin(to if is_own(to) else f"{HOME}/")
        except EntryError as error:
            return self._pages.problem(error.status, error.what, error.fix)
        response = RedirectResponse(begun.url, 303)
        # Lax, since it must be there when the issuer sends the browser back; it lets nobody in.
        response.set_cookie(
            self._cookie,
            begun.kept,
            max_age=FLOW_SECONDS,
            path=f"{HOME}{PATH}",
            httponly=True,
            samesite="lax",
            secure=self._pages.is_secure,
        )
        return response

    async def back(self, request: Request) -> Response:
        """Let in whom the issuer has sent back, with a session of their own.

        The answer is a page that leads on by itself: a browser that comes from another site would
        not send the session's cookie along with a redirect (`SameSite=Strict`).
        """
        try:
            said = said_of(request.query_params.multi_items())
            entered = await self._provider.finish(said, request.cookies.get(self._cookie, ""))
        except EntryError as error:
            return self._pages.problem(error.status, error.what, error.fix)
        person = entered.person
        seconds = self._provider.settings.seconds
        response = self._pages.render("entry/entered.html", person=person, onward=entered.onward)
        session_id = self._pages.login.open_for(
            person.name, person.role, person.roles, seconds=seconds
        )
        let_in(response, self._pages, session_id, round(seconds))
        response.delete_cookie(self._cookie, path=f"{HOME}{PATH}", httponly=True, samesite="lax")
        return response
