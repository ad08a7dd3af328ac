"""The API's description (OpenAPI 3.1), which also validates requests."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from sayso.console.api.problem import ProblemError
from sayso.errors import UsageError
from sayso.schema import canonical, parse_json
from sayso.workers import BoundedChecker, UndecidedError

_TYPE: Final = "application/json"
_LONGEST: Final = 256 * 1024
_CALLER: Final = "console API"
_FILE: Final = Path(__file__).with_name("openapi.json")


@cache
def document() -> dict[str, Any]:
    """Return the description in `openapi.json`."""
    return json.loads(_FILE.read_bytes())


@cache
def _checker_of(name: str) -> BoundedChecker:
    components = document()["components"]
    return BoundedChecker({"$ref": f"#/components/schemas/{name}", "components": components})


async def read_answer(request: Request) -> dict[str, Any]:
    """Read an answer to a question. Raises `ProblemError` for an invalid body."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise ProblemError(415, "body", "The content type must be application/json.")
    text = b""
    async for chunk in request.stream():
        text += chunk
        if len(text) > _LONGEST:
            raise ProblemError(413, "body", "The answer is too long.")
    try:
        body = parse_json(text.decode())
        # Raises for half of a surrogate pair, which the store cannot save.
        canonical(body)
    except UnicodeDecodeError as error:
        what = f"The body is not valid UTF-8 (byte {error.start})."
        raise ProblemError(400, "body", what) from None
    except UsageError as error:
        raise ProblemError(400, "body", f"The body is invalid: {error.what}.") from None
    try:
        wrong = await _checker_of("Answer").problems(body, _CALLER)
    except UndecidedError:
        raise ProblemError(422, "body", "The answer could not be validated in time.") from None
    if wrong:
        raise ProblemError(422, "body", "; ".join(str(problem) for problem in wrong))
    return body
