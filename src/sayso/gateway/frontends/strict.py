"""Checks of a message before it is read: no repeated keys, and not too much of anything."""

import contextlib
import itertools
from typing import Final

from sayso.errors import UsageError
from sayso.schema import RepeatedKeyError, read_strictly
from sayso.workers import BusyError, run_job

_AT_ONCE_BYTES: Final = 65_536
"""Messages up to this size are checked on the event loop; larger ones in a worker process."""

_CHECK_SECONDS: Final = 5.0
_LANES: Final = 2
"""The caller is not known yet, so large messages share a part of the workers."""

_JOB: Final = "sayso.workers.jobs:find_fault"
_numbers: Final = itertools.count()


class AmbiguousError(ValueError):
    """A message that two readers would read differently, or that is too large."""


async def check_unambiguous(body: bytes) -> None:
    """Raise `AmbiguousError` for JSON with a key given twice, or with too many keys or values."""
    if len(body) <= _AT_ONCE_BYTES:
        _check(body)
        return
    lane = f"message {next(_numbers) % _LANES}"
    try:
        output = await run_job(lane, _JOB, (body,), seconds=_CHECK_SECONDS)
    except (BusyError, OSError, RuntimeError) as error:
        raise AmbiguousError("it cannot be checked for repeated keys now") from error
    if not output.is_complete:
        raise AmbiguousError("it cannot be checked for repeated keys in time")
    if output.last is not None:
        raise AmbiguousError(output.last.decode())


def _check(body: bytes) -> None:
    # What else is wrong with it is for whoever reads the message.
    with contextlib.suppress(UsageError):
        try:
            read_strictly(body)
        except RepeatedKeyError as error:
            raise AmbiguousError(error.what) from None
