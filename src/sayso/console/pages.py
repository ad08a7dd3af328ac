"""Rendering of the console's pages, after checks of session, role and CSRF token."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sayso.console.approvals.queue import load_queue
from sayso.console.entry.login import Login, Session
from sayso.console.entry.oidc import Provider
from sayso.console.entry.roles import Role
from sayso.console.environment import Assets, make_environment
from sayso.console.forms import has_token, read_form
from sayso.console.home import HOME, page_after_login
from sayso.gateway import Gateway

Show = Callable[[Request, Session], Awaitable[Response]]
Act = Callable[[Request, Session, dict[str, str]], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Pages:
    """The shared parts of all pages. `cookie` is the name of the session's cookie.

    `is_secure` is true if browsers use TLS; the cookie then requires TLS. `provider` is the issuer
    for logins, if any. `is_alone` is true if callers are not authenticated: there is one user.
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
        """Return the session of a request; `None` if it has no valid session."""
        return await self.login.session(request.cookies.get(self.cookie, ""))

    def render(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        text = self.environment.get_template(template).render(values)
        return HTMLResponse(text, status)

    async def page(self, template: str, session: Session, **values: Any) -> HTMLResponse:
        queue = await load_queue(self.gateway.guard)
        return self.render(template, session=session, queue=queue, **values)

    def problem(self, status: int, what: str, fix: str) -> HTMLResponse:
        return self.render("problem.html", status=status, what=what, fix=fix)

    def login_required(self, request: Request, *, is_posted: bool = False) -> HTMLResponse:
        """Return the login page in place of the requested one.

        A browser that follows a link on another site sends no cookie (`SameSite=Strict`). In that
        case the login page has a link to the console.
        """
        is_elsewhere = request.headers.get("sec-fetch-site") == "cross-site"
        onward = ""
        if not is_posted:
            onward = page_after_login(request.url.path, request.url.query)
        response = self.login_page(
            status=401, is_posted=is_posted, is_elsewhere=is_elsewhere, onward=onward
        )
        response.headers["WWW-Authenticate"] = 'Link realm="sayso console"'
        return response

    def login_page(self, *, status: int = 200, onward: str = "", **values: Any) -> HTMLResponse:
        return self.render(
            "entry/login.html",
            status=status,
            has_issuer=self.provider is not None,
            onward=onward,
            **{"is_posted": False, "is_elsewhere": False, **values},
        )

    def shown(self, show: Show, role: Role = Role.VIEWER) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            session = await self.session_of(request)
            if session is None:
                return self.login_required(request)
            if not session.role.covers(role):
                return self._forbidden(role)
            return await show(request, session)

        return endpoint

    def posted(self, act: Act, role: Role = Role.APPROVER) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            session = await self.session_of(request)
            if session is None:
                return self.login_required(request, is_posted=True)
            form = await read_form(request, is_known=True)
            if not has_token(form, session):
                fix = "Nothing was done. Go back to the console and try again."
                return self.problem(403, "This form belongs to another session.", fix)
            if not session.role.covers(role):
                return self._forbidden(role)
            return await act(request, session, form)

        return endpoint

    def _forbidden(self, role: Role) -> HTMLResponse:
        fix = "Nothing was done. The operator of this gateway assigns roles."
        return self.problem(403, f"This requires the role “{role}”.", fix)


def make_pages(
    gateway: Gateway,
    login: Login,
    base_url: str,
    *,
    provider: Provider | None = None,
    is_alone: bool = True,
) -> Pages:
    """Return the pages of the console at `base_url`."""
    # Browsers send a host's cookies to all ports, so the name includes the port.
    parts = urlsplit(base_url)
    is_secure = parts.scheme == "https"
    cookie = f"sayso_console_{parts.port or (443 if is_secure else 80)}"
    assets = Assets(HOME)
    environment = make_environment(base_url, gateway.guard.approvals, assets)
    return Pages(gateway, login, environment, assets, cookie, is_secure, provider, is_alone)
