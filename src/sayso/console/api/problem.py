"""Problem details: errors as JSON (RFC 9457)."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.access import RefusedError
from sayso.errors import StoreError
from sayso.incidents import report_incident

_log: Final = logging.getLogger(__name__)

_MESSAGES: Final = {
    404: ("absent", "Not found."),
    405: ("method", "Method not allowed."),
}


class ProblemError(Exception):
    """A failed request, with a `code` for programs and a sentence for people."""

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
    """Return a problem response."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": what,
        "code": code,
    }
    return JSONResponse(body, status, headers, "application/problem+json")


def handlers() -> dict[Any, Callable[[Request, Any], Awaitable[Response]]]:
    """Return the exception handlers, which reveal no internals."""

    async def failed(_: Request, error: ProblemError) -> Response:
        return problem(error.status, error.code, error.what, headers=error.headers)

    async def not_routed(_: Request, error: HTTPException) -> Response:
        code, what = _MESSAGES.get(error.status_code, ("refused", "This request is not possible."))
        return problem(error.status_code, code, what, headers=error.headers)

    async def refused(_: Request, error: RefusedError) -> Response:
        known = {name.decode(): value.decode() for name, value in error.headers}
        names = ("www-authenticate", "retry-after")
        headers = {name: known[name] for name in names if name in known}
        return problem(error.status, "refused", error.sentence, headers=headers)

    async def store_failed(_: Request, error: StoreError) -> Response:
        _log.error("%s", error)
        return problem(503, "store", "sayso cannot read or write its records.")

    async def broken(_: Request, error: Exception) -> Response:
        incident = report_incident(_log, error)
        what = f"Internal error. See incident {incident} in sayso's log."
        return problem(500, "incident", what)

    return {
        ProblemError: failed,
        HTTPException: not_routed,
        RefusedError: refused,
        StoreError: store_failed,
        Exception: broken,
    }
