"""The history pages: the newest lines of the log, and all lines of one call."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from avow.console.login import Session
from avow.console.pages import Pages
from avow.console.queue import load_queue
from avow.store import RecordRow

_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log; `body` is all that it says. What it does not say is empty."""

    call: str
    at: float
    event: str
    body: Mapping[str, Any]

    @classmethod
    def from_row(cls, row: RecordRow) -> Self:
        """As the log keeps it."""
        return cls(row.call, row.at, row.event, json.loads(row.body))

    def __getitem__(self, name: str) -> Any:
        """One field of the body."""
        return self.body.get(name, "")


def history_routes(pages: Pages) -> list[Route]:
    """The newest lines, and one call."""
    log, approvals = pages.gateway.guard.audit, pages.gateway.guard.approvals

    async def newest(_: Request, session: Session) -> Response:
        lines = [Line.from_row(row) for row in await log.newest(limit=_MOST)]
        queue = await load_queue(approvals)
        return pages.page("history.html", session, queue, here="history", lines=lines, most=_MOST)

    async def one(request: Request, session: Session) -> Response:
        rows = await log.newest(call=request.path_params["call"], limit=_MOST)
        if not rows:
            raise HTTPException(404)
        lines = [Line.from_row(row) for row in reversed(rows)]
        queue = await load_queue(approvals)
        return pages.page("call.html", session, queue, here="history", lines=lines)

    return [
        Route("/history", pages.shown(newest)),
        Route("/history/{call}", pages.shown(one)),
    ]
