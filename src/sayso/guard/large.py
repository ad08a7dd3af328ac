"""Arguments that are too large to be worked on in the event loop.

A worker process takes their digest and makes an excerpt, which stands for them wherever they are
only shown: in the question, on the console and in the log. What is sent, and what the digest
covers, is the whole.
"""

import json
import marshal
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from sayso.errors import UsageError
from sayso.schema import MASK, digest_exactly, excerpt, redact, weight
from sayso.slices import rest_since
from sayso.workers import BusyError, encoded, packed, run_job

if TYPE_CHECKING:
    from sayso.guard.call import Call

MAX_LOCAL_WEIGHT: Final = 2_000
"""Weight of arguments and all else that is bound with them, up to which they are handled here."""

PREPARE_SECONDS: Final = 10.0
_JOB: Final = "sayso.guard.large:prepare_job"


class TooLargeError(UsageError):
    """Arguments that cannot be handled in the time and memory that one call may take."""

    def __init__(self) -> None:
        super().__init__("they take too long to handle, or too much memory")


async def take_arguments(call: "Call", arguments: Mapping[str, Any]) -> None:
    """Put arguments on the call, with their digest, and with an excerpt where they are large.

    Raises `UsageError` for what is not JSON, and `TooLargeError`.
    """
    extras = call.extras
    if weight([arguments, extras], MAX_LOCAL_WEIGHT) <= MAX_LOCAL_WEIGHT:
        digest = call.digest_of(arguments)
    else:
        digest, shown, shown_extras = await _prepared(call, arguments, extras)
        call.excerpts = (*call.excerpts[-1:], (arguments, shown, shown_extras))
    call.arguments = arguments
    call.arguments_digest = digest


async def digest_of(value: Any, caller: str) -> str:
    """Return the digest of a value of any size; raises as `take_arguments`."""
    if weight(value, MAX_LOCAL_WEIGHT) <= MAX_LOCAL_WEIGHT:
        return digest_exactly(value)
    return (await _run(value, caller, has_extras=False))["digest"]


async def _prepared(
    call: "Call", arguments: Mapping[str, Any], extras: Mapping[str, Any]
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    whole = arguments
    if extras:
        whole = {"arguments": arguments, **extras}
    result = await _run(whole, call.principal.caller, has_extras=bool(extras))
    return result["digest"], result["arguments"], result["extras"]


async def _run(whole: Any, caller: str, *, has_extras: bool) -> dict[str, Any]:
    try:
        begun = time.perf_counter()
        job = (packed(whole), has_extras)
        await rest_since(begun)
        output = await run_job(caller, _JOB, job, seconds=PREPARE_SECONDS)
    except ValueError as error:
        raise UsageError("nested deeper than 200 levels") from error
    except (BusyError, OSError, RuntimeError) as error:
        raise TooLargeError from error
    if output.last is None:
        raise TooLargeError
    result = json.loads(output.last)
    if "error" in result:
        raise UsageError(result["error"])
    return result


def prepare_job(whole: bytes, has_extras: bool) -> Iterator[bytes]:  # noqa: FBT001 - arguments of a job are a plain list
    """Yield the digest of a value, and an excerpt of its arguments and of what else it holds."""
    value: dict[str, Any] = marshal.loads(whole)  # noqa: S302 - as for each request to a worker
    try:
        digest = digest_exactly(value)
    except UsageError as error:
        yield encoded({"error": error.what})
        return
    arguments = value
    shown: dict[str, Any] = {}
    if has_extras:
        arguments = value.pop("arguments")
        # A standing answer is bound to what is shown here, so it must tell all extras apart.
        shown = {**excerpt(redact(value, None)), f"{MASK} SHA-256": digest_exactly(value)}
    excerpted = excerpt(redact(arguments, None))
    yield encoded({"digest": digest, "arguments": excerpted, "extras": shown})
