"""The history pages: the newest calls, and all lines of one call."""

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from avow.console.calls import Line, read_calls
from avow.console.login import Session
from avow.console.pages import Pages
from avow.console.queue import load_queue

_MOST: Final = 100
_LINES: Final = 4
"""How many lines a call has at most, but for those that are tried again and again."""


def history_routes(pages: Pages) -> list[Route]:
    """The newest calls, and one of them."""
    guard = pages.gateway.guard
    log = guard.audit

    async def newest(_: Request, session: Session) -> Response:
        calls = read_calls(await log.newest(limit=_MOST * _LINES))[:_MOST]
        queue = await load_queue(guard)
        return pages.page("history.html", session, queue, here="history", calls=calls, most=_MOST)

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
