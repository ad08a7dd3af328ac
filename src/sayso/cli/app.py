"""Reads the command line, runs one command, and turns errors into words and an exit code."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final

import cyclopts
from cyclopts import App, Parameter

from sayso.cli.terminal import print_errors
from sayso.errors import SaysoError, UsageError
from sayso.telemetry import LogLevel, is_structured, set_up_logs
from sayso.version import __version__

_INTERRUPTED: Final = 130
_INTERNAL: Final = 70
"""What `sysexits.h` calls EX_SOFTWARE: the mistake is sayso's."""

app = App(
    name="sayso",
    version=f"sayso {__version__}",
    help="Declare once what a tool does to the world; everything follows from it.",
    help_format="markdown",
    default_parameter=Parameter(negative=()),
)
# The lines of the overview stand here, so that showing it imports no command.
_COMMANDS: Final = {
    "inspect": (
        "inspect:inspect",
        "Show the tools of a server with their level and hints, and who says so.",
    ),
    "infer": (
        "infer:infer",
        "Guess each tool's hints from its own text, with reasons; write them into its source.",
    ),
    "lint": (
        "lint:lint",
        "Say what is wrong with a server's tools: hints, texts, schemas, and what a store asks.",
    ),
    "rule": ("rule:rule", "Show a rule of the linter, or list them all."),
    "submit": (
        "submit:submit",
        "Write what a store's review asks of a server: hints, why, and prompts to fill in.",
    ),
    "verify": (
        "verify:verify",
        "Run a server's tools in containment, and show which of its hints are false.",
    ),
    "receipt": (
        "receipt:app",
        "Sign what a run of sayso verify has shown, and check who has signed it.",
    ),
    "explain": (
        "explain:explain",
        "Say what would become of a call, by which rule, and why; calls nothing.",
    ),
    "policy": ("policy:policy", "Check a policy, and test what it decides."),
    "prompt": ("prompt:prompt", "Write the system prompt for a model that calls a server's tools."),
    "select": ("select:select", "Select the tools that a message needs out of many, and say why."),
    "gateway": (
        "gateway:gateway",
        "Serve MCP servers behind one address: reads run, destructive calls wait.",
    ),
    "console": (
        "console:console",
        "Print a link that logs in to the console of a running gateway.",
    ),
    "discover": (
        "discover:discover",
        "List the servers that the clients on this machine are configured with.",
    ),
    "install": (
        "install:install",
        "Put the gateway in front of a client's servers: shows the change, and asks.",
    ),
    "uninstall": (
        "install:uninstall",
        "Take the gateway out again: the client's file is what it was.",
    ),
    "drift": ("held:drift", "Show by which changes tools would permit more, and accept them."),
    "quarantine": (
        "held:quarantine",
        "Show which tools broke their contract, and let them be called again.",
    ),
    "grants": ("grants:app", "List the standing answers, and take them back."),
    "keys": ("keys:app", "Make API keys for machines, and take them back."),
    "audit": ("audit:app", "Read, verify and export the log of all calls."),
    "db": ("database:app", "Migrate and move the store."),
    "demo": ("demo:demo", "Serve a small made-up business behind the gateway, to try it on."),
}
for _order, (_name, (_where, _help)) in enumerate(_COMMANDS.items()):
    app.command(f"sayso.cli.{_where}", name=_name, help=_help, sort_key=_order)


def _keep_ignoring_hangup() -> None:
    """Ignore SIGHUP under nohup by a handler, which servers that sayso starts do not inherit."""
    number = getattr(signal, "SIGHUP", None)
    is_main = threading.current_thread() is threading.main_thread()
    if number is not None and is_main and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda _number, _frame: None)


def run(words: Sequence[str]) -> int:
    """Run one command; `words` after `--` are a command to start, not options of sayso."""
    _keep_ignoring_hangup()
    before, after = _split(words)
    is_json = "--json" in before
    try:
        code = _dispatch(before, after, is_json=is_json)
        sys.stdout.flush()  # here, where a reader that has left is understood
        return code
    except SaysoError as error:
        _say(error, is_json=is_json)
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):
            # How rich ends when whoever read the output has read enough.
            return 0
        raise
    except BrokenPipeError:
        # Whoever read the output has read enough; Python must not complain about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # the edge of the process
        if os.environ.get("SAYSO_DEBUG"):
            raise
        what = f"a mistake in sayso itself: {type(error).__name__}: {error}"
        wrong = SaysoError(what, fix="Set SAYSO_DEBUG=1 to see where, and please report it.")
        _say(wrong, is_json=is_json)
        return _INTERNAL


def _say(error: SaysoError, *, is_json: bool) -> None:
    if is_structured():
        from sayso.cli.output import log_error

        log_error(error)
    else:
        print_errors([error], is_json=is_json)


def _dispatch(before: list[str], after: list[str] | None, *, is_json: bool) -> int:
    # With --json a program reads standard error too: one JSON document for each error.
    set_up_logs(level=LogLevel.ERROR if is_json else None)
    try:
        command, bound, extra = app.parse_args(
            before, exit_on_error=False, print_error=False, help_on_error=False
        )
    except cyclopts.CycloptsError as error:
        fix = "sayso --help lists the commands, sayso COMMAND --help the options of one."
        raise UsageError(" ".join(str(error).split()), fix=fix) from error
    if "command" in extra:
        bound.arguments["command"] = after
    elif after is not None:
        raise UsageError("this command takes nothing after --")
    return command(*bound.args, **bound.kwargs) or 0


def _split(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in words:
        return list(words), None
    index = words.index("--")
    return list(words[:index]), list(words[index + 1 :])
