"""The API's routes: `/api` for callers with tokens, `/console/api` for console sessions."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route

from sayso.access import API, Access, Screens
from sayso.console.api.approvals import ApprovalEndpoints
from sayso.console.api.authentication import (
    Authentication,
    SessionAuthentication,
    TokenAuthentication,
)
from sayso.console.api.document import document
from sayso.console.api.problem import handlers
from sayso.console.api.stream import Stream
from sayso.console.api.tools import ToolEndpoints
from sayso.console.entry.roles import Role
from sayso.console.events import Pulse
from sayso.console.gate import ScreenGate
from sayso.console.pages import Pages

VERSION: Final = "/v1"
_SCRIPT: Final = Path(__file__).parents[1] / "static" / "sayso-confirm.js"


def session_api(pages: Pages, pulse: Pulse, base: str) -> Mount:
    """Return the API for sessions of the console."""
    app = _app(pages, SessionAuthentication(pages), pulse, base)
    return Mount(API, app=app)


def caller_api(
    pages: Pages, pulse: Pulse, base: str, access: Access, screens: Screens | None
) -> Mount:
    """Return the API for callers with a token, from the origins that `screens` allows."""
    allowed = screens or Screens()
    app = _app(pages, TokenAuthentication(access, allowed), pulse, base)
    return Mount(API, app=ScreenGate(app, base, allowed.origins))


def _app(pages: Pages, authentication: Authentication, pulse: Pulse, base: str) -> Starlette:
    guard = pages.gateway.guard
    tools = ToolEndpoints(pages.gateway, authentication)
    approvals = ApprovalEndpoints(guard, authentication, base)
    stream = Stream(guard, authentication, approvals, pulse)
    routes = [
        Route("/tools", tools.all),
        Route("/tools/{name}", tools.one),
        Route("/approvals", approvals.all),
        Route("/approvals/{number}", approvals.one),
        Route("/approvals/{number}/answer", approvals.answer, methods=["POST"]),
        Route("/events", stream.listen),
        Route("/me", _me(authentication)),
        Route("/openapi.json", _describe),
        Route("/sayso-confirm.js", _script),
    ]
    return Starlette(routes=[Mount(VERSION, routes=routes)], exception_handlers=handlers())


async def _describe(_: Request) -> Response:
    return JSONResponse(document(), media_type="application/openapi+json")


def _me(authentication: Authentication) -> Callable[[Request], Awaitable[Response]]:
    async def me(request: Request) -> Response:
        session = (await authentication.authenticate(request)).require(Role.VIEWER)
        return JSONResponse(
            {
                "person": session.person,
                "role": str(session.role),
                "may_answer": session.role.covers(Role.APPROVER),
                "csrf": session.csrf or None,
            }
        )

    return me


async def _script(_: Request) -> Response:
    return FileResponse(_SCRIPT, media_type="text/javascript")
