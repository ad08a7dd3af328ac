"""What is sent to the API: JSON, held to the document."""

from typing import Any, Final

from starlette.requests import Request

from sayso.console.api.document import checker_of
from sayso.console.api.problem import ProblemError
from sayso.errors import UsageError
from sayso.schema import canonical, parse_json
from sayso.workers import UndecidedError

_LONGEST: Final = 256 * 1024
_CALLER: Final = "console API"


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
        wrong = await checker_of("Answer").problems(body, _CALLER)
    except UndecidedError:
        raise ProblemError(422, "body", "This answer cannot be checked in time.") from None
    if wrong:
        raise ProblemError(422, "body", "; ".join(str(problem) for problem in wrong))
    return body


_TYPE: Final = "application/json"
