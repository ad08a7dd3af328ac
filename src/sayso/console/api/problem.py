"""What is wrong, as JSON that says so to people and to programs (RFC 9457)."""

import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.access import RefusedError
from sayso.errors import StoreError

_log: Final = logging.getLogger(__name__)

_TOLD: Final = {
    404: ("absent", "There is no such thing here."),
    405: ("method", "This address does not do that."),
}


class ProblemError(Exception):
    """A request that is not answered as asked: by a `code` for programs, and in a sentence."""

    def __init__(
        self, status: int, code: str, what: str, *, headers: Mapping[str, str] | None = None
    ) -> None:
        self.status = status
        self.code = code
        self.what = what
        self.headers = headers
        super().__init__(what)


def problem(
    status: int, code: str, what: str, *, headers: Mapping[str, str] | None = None
) -> Response:
    """One problem as an answer."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": what,
        "code": code,
    }
    return JSONResponse(body, status, headers, "application/problem+json")


def handlers() -> dict[Any, Callable[[Request, Any], Awaitable[Response]]]:
    """A problem for whatever goes wrong, without a word of what it looked like inside."""

    async def told(_: Request, error: ProblemError) -> Response:
        return problem(error.status, error.code, error.what, headers=error.headers)

    async def missed(_: Request, error: HTTPException) -> Response:
        code, what = _TOLD.get(error.status_code, ("refused", "This cannot be done."))
        return problem(error.status_code, code, what, headers=error.headers)

    async def unknown(_: Request, error: RefusedError) -> Response:
        kept = {name.decode(): value.decode() for name, value in error.headers}
        sent = {name: kept[name] for name in ("www-authenticate", "retry-after") if name in kept}
        return problem(error.status, "refused", error.sentence, headers=sent)

    async def unkept(_: Request, error: StoreError) -> Response:
        _log.error("%s", error)
        return problem(503, "store", "sayso cannot read or write its records.")

    async def broken(_: Request, _error: Exception) -> Response:
        incident = uuid.uuid4().hex[:12]
        _log.error("incident %s in the API", incident)
        what = f"Something went wrong inside sayso. Incident {incident}: its log says more."
        return problem(500, "incident", what)

    return {
        ProblemError: told,
        HTTPException: missed,
        RefusedError: unknown,
        StoreError: unkept,
        Exception: broken,
    }
