"""The console's routes, served next to `/mcp`."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from sayso.access import Access, LoopbackOnly, Screens
from sayso.console.api.routes import caller_api, session_api
from sayso.console.approvals.links import link_routes
from sayso.console.approvals.page import approval_routes
from sayso.console.audit.page import audit_routes
from sayso.console.entry.login import Login
from sayso.console.entry.login_pages import login_routes
from sayso.console.entry.oidc import Provider
from sayso.console.entry.oidc_pages import oidc_routes
from sayso.console.events import Pulse, event_routes
from sayso.console.gate import Gate
from sayso.console.grants import grant_routes
from sayso.console.home import HOME
from sayso.console.pages import Pages, make_pages
from sayso.console.policy.page import policy_routes
from sayso.console.prompt import prompt_routes
from sayso.console.servers import server_routes
from sayso.console.tools.drift import drift_routes
from sayso.console.tools.page import tool_routes
from sayso.console.tools.trial import trial_routes
from sayso.errors import StoreError
from sayso.gateway import Gateway
from sayso.incidents import report_incident

_log: Final = logging.getLogger(__name__)

_PROBLEMS: Final = {
    400: ("The form is invalid.", "Go back to the console and try again."),
    404: ("Page not found.", "It may have been removed. Go back to the console."),
    405: ("Method not allowed.", "Go back to the console."),
    413: ("The form is too long.", "Go back to the console and try again."),
    415: ("The content is not a form.", "Go back to the console and try again."),
}


def make_routes(
    gateway: Gateway,
    login: Login,
    *,
    base_url: str,
    provider: Provider | None = None,
    is_alone: bool = True,
    access: Access | None = None,
    screens: Screens | None = None,
) -> list[BaseRoute]:
    """Return the console under `/console`, a redirect from `/`, and the API under `/api`.

    `base_url` is the gateway's URL, as in `http://127.0.0.1:8321`. `provider` is the issuer for
    logins, if any. `is_alone` is true if callers are not authenticated: there is one user.
    `access` authenticates callers of the API; `screens` has their origins and roles.
    """
    base = base_url.rstrip("/")
    pages = make_pages(gateway, login, base, provider=provider, is_alone=is_alone)
    pulse = Pulse(gateway.guard)
    console = Starlette(
        routes=[
            *login_routes(pages),
            *oidc_routes(pages),
            *approval_routes(pages),
            *link_routes(pages),
            *tool_routes(pages),
            *drift_routes(pages),
            *trial_routes(pages),
            *server_routes(pages),
            *prompt_routes(pages),
            *audit_routes(pages),
            *grant_routes(pages),
            *policy_routes(pages),
            *event_routes(pages, pulse),
            session_api(pages, pulse, base),
            *pages.assets.routes(),
        ],
        exception_handlers=_handlers(pages),
    )
    to_console = Gate(_redirect, base_url, refuse=pages.problem)
    return [
        Route("/", to_console),
        Route(HOME, to_console),
        Mount(HOME, app=Gate(console, base_url, refuse=pages.problem)),
        caller_api(pages, pulse, base, access or LoopbackOnly(), screens),
    ]


async def _redirect(scope: Scope, receive: Receive, send: Send) -> None:
    await RedirectResponse(f"{HOME}/", 303)(scope, receive, send)


def _handlers(pages: Pages) -> dict[Any, Callable[[Request, Any], Awaitable[Response]]]:
    async def refused(_: Request, error: HTTPException) -> Response:
        what, fix = _PROBLEMS.get(error.status_code, ("This request is not possible.", "Go back."))
        return pages.problem(error.status_code, what, fix)

    async def store_failed(_: Request, error: StoreError) -> Response:
        return pages.problem(503, "The console cannot read or write its records.", str(error))

    async def broken(_: Request, error: Exception) -> Response:
        incident = report_incident(_log, error)
        fix = f"See incident {incident} in sayso's log."
        return pages.problem(500, "Internal error.", fix)

    return {HTTPException: refused, StoreError: store_failed, Exception: broken}
