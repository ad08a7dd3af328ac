"""The API's own description (OpenAPI 3.1), which is also what it holds requests to."""

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
    """All of it, as it stands beside this file."""
    return json.loads(_FILE.read_bytes())


@cache
def _checker_of(name: str) -> BoundedChecker:
    components = document()["components"]
    return BoundedChecker({"$ref": f"#/components/schemas/{name}", "components": components})


async def read_answer(request: Request) -> dict[str, Any]:
    """An answer to a question. Raises `ProblemError` for what is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise ProblemError(415, "body", "An answer is JSON: application/json.")
    text = b""
    async for chunk in request.stream():
        text += chunk
        if len(text) > _LONGEST:
            raise ProblemError(413, "body", "This answer is too long.")
    try:
        body = parse_json(text.decode())
        # Half of a surrogate pair is no text, and nothing further on could be told of it.
        canonical(body)
    except UnicodeDecodeError as error:
        what = f"This is not UTF-8 text (byte {error.start})."
        raise ProblemError(400, "body", what) from None
    except UsageError as error:
        raise ProblemError(400, "body", f"This cannot be read: {error.what}.") from None
    try:
        wrong = await _checker_of("Answer").problems(body, _CALLER)
    except UndecidedError:
        raise ProblemError(422, "body", "This answer cannot be checked in time.") from None
    if wrong:
        raise ProblemError(422, "body", "; ".join(str(problem) for problem in wrong))
    return body
