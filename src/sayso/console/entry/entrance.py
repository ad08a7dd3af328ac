"""Logging in and out: the pages around the one-time link."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.console.entry.login import SESSION_SECONDS, Session
from sayso.console.entry.roles import Role
from sayso.console.forms import read_form
from sayso.console.home import HOME
from sayso.console.pages import Pages


def entrance_routes(pages: Pages) -> list[Route]:
    """Return the routes of the link's page and of logging out."""
    entrance = _Entrance(pages)
    return [
        Route("/login", entrance.look, methods=["GET"]),
        Route("/login", entrance.enter, methods=["POST"]),
        Route("/logout", pages.posted(entrance.leave, Role.VIEWER), methods=["POST"]),
    ]


def let_in(response: Response, pages: Pages, session_id: str, seconds: int) -> None:
    """Have a browser keep its session, out of reach of scripts and of other sites."""
    response.set_cookie(
        pages.cookie,
        session_id,
        max_age=seconds,
        path=HOME,
        httponly=True,
        samesite="strict",
        secure=pages.is_secure,
    )


class _Entrance:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def look(self, request: Request) -> Response:
        """What a link opens. Looking at it does not use it up: previews of links do that."""
        token = request.query_params.get("token")
        if token is not None and await self._pages.login.is_good(token):
            return self._pages.render("entry/enter.html", token=token)
        if await self._pages.session_of(request) is not None:
            return RedirectResponse(f"{HOME}/", 303)
        if token is not None:
            return self._spent()
        return self._pages.entrance()

    async def enter(self, request: Request) -> Response:
        """Use the link up, and open a session; not for a browser that a client has started."""
        client = request.client
        if await self._pages.login.is_from_caller(client.port if client else None):
            what = "This browser was started by the program whose calls are answered here."
            fix = "Open the link in a browser that you started yourself. It is still good."
            return self._pages.problem(403, what, fix)
        form = await read_form(request)
        session_id = await self._pages.login.open_session(form.get("token", ""))
        if session_id is None:
            return self._spent()
        response = RedirectResponse(f"{HOME}/", 303)
        let_in(response, self._pages, session_id, SESSION_SECONDS)
        return response

    async def leave(self, request: Request, _: Session, _form: dict[str, str]) -> Response:
        await self._pages.login.close_session(request.cookies.get(self._pages.cookie, ""))
        response = RedirectResponse(f"{HOME}/login", 303)
        response.delete_cookie(self._pages.cookie, path=HOME, httponly=True, samesite="strict")
        return response

    def _spent(self) -> Response:
        has_issuer = self._pages.provider is not None
        return self._pages.render("entry/spent.html", status=410, has_issuer=has_issuer)
