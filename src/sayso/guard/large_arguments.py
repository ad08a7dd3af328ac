"""Arguments that are too large for the event loop.

A worker process computes their digest and an excerpt. Questions, the console and the log show the
excerpt. The server gets the whole arguments, and the digest covers the whole arguments.
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
"""The largest weight of arguments and extras that this process handles itself."""

PREPARE_SECONDS: Final = 10.0
_JOB: Final = "sayso.guard.large_arguments:prepare_job"


class TooLargeError(UsageError):
    """Arguments that take more time or memory than one call may use."""

    def __init__(self) -> None:
        super().__init__("the arguments take too much time or memory to handle")


async def take_arguments(call: "Call", arguments: Mapping[str, Any]) -> None:
    """Put arguments on the call, with their digest, and with an excerpt of large ones.

    Raises `UsageError` for a value that is not JSON, and `TooLargeError` for a value too large.
    """
    extras = call.extras
    whole = [arguments, extras] if extras else arguments
    if weight(whole, MAX_LOCAL_WEIGHT) <= MAX_LOCAL_WEIGHT:
        digest = call.digest_of(arguments)
    else:
        value = {"arguments": arguments, **extras} if extras else arguments
        result = await _run(value, call.principal.caller, has_extras=bool(extras))
        digest = result["digest"]
        excerpt_ = (arguments, result["arguments"], result["extras"])
        call.excerpts = (*call.excerpts[-1:], excerpt_)
    call.arguments = arguments
    call.arguments_digest = digest


async def digest_of(value: Any, caller: str) -> str:
    """Return the digest of a value. Raises `UsageError` if it is not JSON, or `TooLargeError`."""
    if weight(value, MAX_LOCAL_WEIGHT) <= MAX_LOCAL_WEIGHT:
        return digest_exactly(value)
    return (await _run(value, caller, has_extras=False))["digest"]


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
    """Yield, as JSON, the digest of a value and excerpts of its arguments and its extras."""
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
        # A grant covers this excerpt, so the digest makes excerpts of different extras differ.
        shown = {**excerpt(redact(value, None)), f"{MASK} SHA-256": digest_exactly(value)}
    excerpted = excerpt(redact(arguments, None))
    yield encoded({"digest": digest, "arguments": excerpted, "extras": shown})
