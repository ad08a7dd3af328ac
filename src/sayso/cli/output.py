"""Who a gateway speaks to while it runs: a person, a program that reads results, or a log."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sayso.cli.terminal import plain, print_error, print_error_json, say
from sayso.errors import SaysoError
from sayso.telemetry import is_structured

_log: Final = logging.getLogger("sayso")


@dataclass(frozen=True, slots=True)
class Voice:
    """How things are said: what goes on, and what went wrong."""

    tell: Callable[[str], None]
    fail: Callable[[SaysoError], None]


SILENT: Final = Voice(lambda _: None, lambda _: None)
"""Of one of several processes: another one says it."""


def voice_of(*, is_json: bool) -> Voice:
    """The voice as it was asked for; all of it goes to a log that is for a program."""
    if is_structured():
        return Voice(_log.info, log_error)
    if is_json:
        return Voice(_quiet, print_error_json)
    return Voice(_tell, print_error)


def log_error(error: SaysoError) -> None:
    """What went wrong, as a line of the log."""
    _log.error("%s", error, extra={"error": error.to_dict()["error"]})


def _tell(text: str) -> None:
    say(plain(text))


def _quiet(_: str) -> None:
    """Nothing: a program reads the output, and stderr holds only errors."""
