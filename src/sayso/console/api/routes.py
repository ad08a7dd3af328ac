"""The API's addresses: `/api` for tokens, and the same below the console for its sessions."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route

from sayso.access import API, Access, Screens
from sayso.console.api.approvals import ApprovalShelf
from sayso.console.api.document import document
from sayso.console.api.door import CallerDoor, Door, SessionDoor
from sayso.console.api.problem import handlers
from sayso.console.api.stream import Stream
from sayso.console.api.tools import ToolShelf
from sayso.console.entry.roles import Role
from sayso.console.events import Pulse
from sayso.console.gate import ScreenGate
from sayso.console.home import HOME
from sayso.console.pages import Pages

VERSION: Final = "/v1"
_SCRIPT: Final = Path(__file__).parents[1] / "static" / "sayso-confirm.js"


def session_api(pages: Pages, pulse: Pulse, base: str) -> Mount:
    """The API for whoever is logged in to the console, on its own origin."""
    app = _app(pages, SessionDoor(pages), pulse, base, f"{HOME}{API}")
    return Mount(API, app=app)


def caller_api(
    pages: Pages, pulse: Pulse, base: str, access: Access, screens: Screens | None
) -> Mount:
    """The API for whoever has a token, on the pages that `screens` allows."""
    allowed = screens or Screens()
    app = _app(pages, CallerDoor(access, allowed), pulse, base, API)
    return Mount(API, app=ScreenGate(app, base, allowed.origins))


def _app(pages: Pages, door: Door, pulse: Pulse, base: str, home: str) -> Starlette:
    guard = pages.gateway.guard
    tools = ToolShelf(pages.gateway, door)
    shelf = ApprovalShelf(guard, door, base)
    stream = Stream(guard, door, shelf, pulse)
    routes = [
        Route("/tools", tools.all),
        Route("/tools/{name}", tools.one),
        Route("/approvals", shelf.all),
        Route("/approvals/{number}", shelf.one),
        Route("/approvals/{number}/answer", shelf.answer, methods=["POST"]),
        Route("/events", stream.listen),
        Route("/me", _me(door)),
        Route("/openapi.json", _describe),
        Route("/sayso-confirm.js", _script),
    ]
    versioned = Mount(VERSION, routes=routes)
    plain = [Route(f"/{name}", _moved(home)) for name in ("tools", "approvals", "events")]
    return Starlette(routes=[versioned, *plain], exception_handlers=handlers())


def _moved(home: str) -> Callable[[Request], Awaitable[Response]]:
    async def move(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        address = f"{home}{VERSION}/{name}"
        if query := request.url.query:
            address += f"?{query}"
        return RedirectResponse(address, 308)

    return move


async def _describe(_: Request) -> Response:
    return JSONResponse(document(), media_type="application/openapi+json")


def _me(door: Door) -> Callable[[Request], Awaitable[Response]]:
    async def tell(request: Request) -> Response:
        session = (await door.enter(request)).within(Role.VIEWER)
        return JSONResponse(
            {
                "person": session.person,
                "role": str(session.role),
                "may_answer": session.role.covers(Role.APPROVER),
                "csrf": session.csrf or None,
            }
        )

    return tell


async def _script(_: Request) -> Response:
    return FileResponse(_SCRIPT, media_type="text/javascript")
