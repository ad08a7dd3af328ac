"""Pages, and who may see them and send their forms."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sayso.console.approvals.queue import load_queue
from sayso.console.assets import Assets
from sayso.console.entry.login import Login, Session
from sayso.console.entry.oidc import Provider
from sayso.console.entry.roles import Role
from sayso.console.environment import make_environment
from sayso.console.forms import has_token, read_form
from sayso.console.home import HOME, wanted
from sayso.gateway import Gateway

Show = Callable[[Request, Session], Awaitable[Response]]
Act = Callable[[Request, Session, dict[str, str]], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Pages:
    """What every page is made with. `cookie` is the name of the session's cookie.

    `is_secure` says that browsers reach the console over TLS: then that is not sent without it.
    `provider` is the issuer that people log in with, where there is one.
    `is_alone` is for the machine of one person, where callers need not prove who they are.
    """

    gateway: Gateway
    login: Login
    environment: Environment
    assets: Assets
    cookie: str
    is_secure: bool = False
    provider: Provider | None = None
    is_alone: bool = True

    async def session_of(self, request: Request) -> Session | None:
        """The session of the browser that sends a request, if it is logged in."""
        return await self.login.session(request.cookies.get(self.cookie, ""))

    def render(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Render a template as a response."""
        text = self.environment.get_template(template).render(values)
        return HTMLResponse(text, status)

    async def page(self, template: str, session: Session, **values: Any) -> HTMLResponse:
        """Return a page for a person who is logged in; each says how many questions wait."""
        queue = await load_queue(self.gateway.guard)
        return self.render(template, session=session, queue=queue, **values)

    def problem(self, status: int, what: str, fix: str) -> HTMLResponse:
        """A page that says what is wrong and what to do, to anybody."""
        return self.render("problem.html", status=status, what=what, fix=fix)

    def visitor(self, request: Request, *, is_posted: bool = False) -> HTMLResponse:
        """The page for whoever is not logged in, instead of the one that was asked for.

        A link on another site opens the console without its cookie (`SameSite=Strict`); for that
        case the page has a link of its own.
        """
        is_elsewhere = request.headers.get("sec-fetch-site") == "cross-site"
        onward = ""
        if not is_posted:
            onward = wanted(request.url.path, request.url.query)
        response = self.entrance(
            status=401, is_posted=is_posted, is_elsewhere=is_elsewhere, onward=onward
        )
        response.headers["WWW-Authenticate"] = 'Link realm="sayso console"'
        return response

    def entrance(self, *, status: int = 200, onward: str = "", **values: Any) -> HTMLResponse:
        """The page with the ways in; with an issuer, that leads on to the page `onward`."""
        told = {"is_posted": False, "is_elsewhere": False, **values}
        is_open = self.provider is not None
        return self.render(
            "entry/login.html", status=status, has_issuer=is_open, onward=onward, **told
        )

    def shown(self, show: Show, role: Role = Role.VIEWER) -> Endpoint:
        """An endpoint that only a session of this role may look at."""

        async def endpoint(request: Request) -> Response:
            session = await self.session_of(request)
            if session is None:
                return self.visitor(request)
            if not session.role.covers(role):
                return self._barred(role)
            return await show(request, session)

        return endpoint

    def posted(self, act: Act, role: Role = Role.APPROVER) -> Endpoint:
        """An endpoint that acts on a form, from a page of a session that has this role."""

        async def endpoint(request: Request) -> Response:
            session = await self.session_of(request)
            if session is None:
                return self.visitor(request, is_posted=True)
            form = await read_form(request, is_known=True)
            if not has_token(form, session):
                fix = "Nothing was done. Go back to the console and press the button again."
                return self.problem(403, "This form belongs to another session.", fix)
            if not session.role.covers(role):
                return self._barred(role)
            return await act(request, session, form)

        return endpoint

    def _barred(self, role: Role) -> HTMLResponse:
        fix = "Nothing was done. Whoever runs this gateway gives roles to people."
        return self.problem(403, f"This needs the role “{role}”, which you do not have.", fix)


def make_pages(
    gateway: Gateway,
    login: Login,
    base_url: str,
    *,
    provider: Provider | None = None,
    is_alone: bool = True,
) -> Pages:
    """The pages of the console that is served at `base_url`."""
    # A browser sends a host's cookies to all its ports, so the name tells two consoles apart.
    parts = urlsplit(base_url)
    is_secure = parts.scheme == "https"
    cookie = f"sayso_console_{parts.port or (443 if is_secure else 80)}"
    assets = Assets(HOME)
    environment = make_environment(base_url, gateway.guard.approvals, assets)
    return Pages(gateway, login, environment, assets, cookie, is_secure, provider, is_alone)
