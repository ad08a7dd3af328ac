"""The pages for logging in with a one-time link, and for logging out."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.console.entry.login import SESSION_SECONDS, Session
from sayso.console.entry.roles import Role
from sayso.console.forms import read_form
from sayso.console.home import HOME
from sayso.console.pages import Pages


def login_routes(pages: Pages) -> list[Route]:
    """Return the routes for logging in with a link and logging out."""
    views = _Views(pages)
    return [
        Route("/login", views.look, methods=["GET"]),
        Route("/login", views.enter, methods=["POST"]),
        Route("/logout", pages.posted(views.leave, Role.VIEWER), methods=["POST"]),
    ]


def set_session_cookie(response: Response, pages: Pages, session_id: str, seconds: int) -> None:
    """Store a session in the browser, hidden from scripts and other sites."""
    response.set_cookie(
        pages.cookie,
        session_id,
        max_age=seconds,
        path=HOME,
        httponly=True,
        samesite="strict",
        secure=pages.is_secure,
    )


class _Views:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def look(self, request: Request) -> Response:
        """Show the page of a link without using it up, because link previews open it too."""
        token = request.query_params.get("token")
        if token is not None and await self._pages.login.is_good(token):
            return self._pages.render("entry/enter.html", token=token)
        if await self._pages.session_of(request) is not None:
            return RedirectResponse(f"{HOME}/", 303)
        if token is not None:
            return self._spent()
        return self._pages.login_page()

    async def enter(self, request: Request) -> Response:
        client = request.client
        if await self._pages.login.is_from_caller(client.port if client else None):
            what = "This browser was started by a program whose calls are approved here."
            fix = "Open the link in a browser that you started yourself. It is still valid."
            return self._pages.problem(403, what, fix)
        form = await read_form(request)
        session_id = await self._pages.login.open_session(form.get("token", ""))
        if session_id is None:
            return self._spent()
        response = RedirectResponse(f"{HOME}/", 303)
        set_session_cookie(response, self._pages, session_id, SESSION_SECONDS)
        return response

    async def leave(self, request: Request, _: Session, _form: dict[str, str]) -> Response:
        await self._pages.login.close_session(request.cookies.get(self._pages.cookie, ""))
        response = RedirectResponse(f"{HOME}/login", 303)
        response.delete_cookie(self._pages.cookie, path=HOME, httponly=True, samesite="strict")
        return response

    def _spent(self) -> Response:
        has_issuer = self._pages.provider is not None
        return self._pages.render("entry/spent.html", status=410, has_issuer=has_issuer)
