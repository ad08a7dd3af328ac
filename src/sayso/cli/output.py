"""Messages of a running gateway, for a person, a program or a log."""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sayso.cli.address import Options
from sayso.cli.terminal import plain, print_error, print_error_json, say
from sayso.connect import is_loopback
from sayso.errors import SaysoError
from sayso.store import is_postgres, store_path
from sayso.telemetry import is_structured

if TYPE_CHECKING:
    from sayso.cli.workers import Worker

_log: Final = logging.getLogger("sayso")


@dataclass(frozen=True, slots=True)
class Reporter:
    """The functions that report progress and errors."""

    tell: Callable[[str], None]
    fail: Callable[[SaysoError], None]


SILENT: Final = Reporter(lambda _: None, lambda _: None)
"""A reporter that prints nothing, for the workers that leave reports to the first one."""


def make_reporter(*, is_json: bool) -> Reporter:
    """Return a reporter that prints text or JSON; with a structured log it only logs."""
    if is_structured():
        return Reporter(_log.info, log_error)
    if is_json:
        return Reporter(SILENT.tell, print_error_json)
    return Reporter(lambda text: say(plain(text)), print_error)


def worker_reporter(options: Options, worker: "Worker | None") -> Reporter:
    """Return this process's reporter; all workers except the first are silent."""
    if worker is not None and not worker.speaks:
        return SILENT
    return make_reporter(is_json=options.is_json)


def log_error(error: SaysoError) -> None:
    """Log an error."""
    _log.error("%s", error, extra={"error": error.to_dict()["error"]})


def print_addresses(base: str, link: str | None, options: Options, reporter: Reporter) -> None:
    """Print the gateway's addresses; print a login link only if a person started it.

    A client that starts a gateway can read the gateway's standard error. It must not get a link to
    the console that approves its own calls. With an identity provider there are no links.
    """
    from sayso.gateway import PATH

    console = f"{base}/console/"
    if options.principal is not None:
        reporter.tell(f"Console: {console}. To log in, run sayso console in a terminal.")
        return
    if options.is_json:
        addresses = {"schema": 1, "mcp": f"{base}{PATH}", "console": link or console}
        sys.stdout.write(json.dumps(addresses) + "\n")
    else:
        sys.stdout.write(f"{link or console}\n")
        _tell_login(base, link, reporter)
        reporter.tell(f"MCP clients connect to {base}{PATH}. Press Ctrl-C to stop.")
        if not is_postgres(options.store):
            reporter.tell(f"The log is in {store_path(options.store)}.")
    sys.stdout.flush()


def _tell_login(base: str, link: str | None, reporter: Reporter) -> None:
    if link is None:
        reporter.tell("Log in to the console with your account.")
        return
    reporter.tell("Open this link to see the tools and approve calls; it works once.")
    if is_loopback(urlsplit(base).hostname or ""):
        reporter.tell("It works only on this machine. Run sayso console for another link.")
