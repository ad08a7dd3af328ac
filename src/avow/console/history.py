"""The history pages: the newest lines of the log, and all lines of one call."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from avow.console.calls import Line
from avow.console.login import Session
from avow.console.pages import Pages
from avow.console.queue import load_queue

_MOST: Final = 100


def history_routes(pages: Pages) -> list[Route]:
    """The newest lines, and one call."""
    guard = pages.gateway.guard
    log = guard.audit

    async def newest(_: Request, session: Session) -> Response:
        lines = [Line.from_row(row) for row in await log.newest(limit=_MOST)]
        queue = await load_queue(guard)
        return pages.page("history.html", session, queue, here="history", lines=lines, most=_MOST)

    async def one(request: Request, session: Session) -> Response:
        rows = await log.newest(call=request.path_params["call"], limit=_MOST)
        if not rows:
            raise HTTPException(404)
        lines = [Line.from_row(row) for row in reversed(rows)]
        queue = await load_queue(guard)
        return pages.page("call.html", session, queue, here="history", lines=lines)

    return [
        Route("/history", pages.shown(newest)),
        Route("/history/{call}", pages.shown(one)),
    ]
