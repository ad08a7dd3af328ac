"""Command-line dispatch: one command runs, and errors become messages and exit codes."""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Final

from sayso.cli.commands import App, Parsed
from sayso.cli.terminal import out, print_errors, show_text
from sayso.errors import SaysoError, UsageError
from sayso.pages import page_address
from sayso.telemetry import LogLevel, is_structured, set_up_logs
from sayso.version import __version__

_INTERRUPTED: Final = 130
_INTERNAL: Final = 70
"""EX_SOFTWARE of `sysexits.h`: a bug in sayso."""


app = App(
    "sayso",
    "Declare once what a tool does to the world; everything follows from it.",
    version=f"sayso {__version__}",
)
# Help texts are here so that `sayso --help` imports no command.
_COMMANDS: Final = {
    "inspect": ("inspect:inspect", "Show a server's tools, levels and the source of each hint."),
    "infer": ("infer:infer", "Infer hints from each tool's text; add them to its source."),
    "lint": ("lint:lint", "Check a server's hints, texts and schemas, and a store's rules."),
    "rule": ("lint:rule", "Show a linter rule, or list them all."),
    "submit": ("submit:submit", "Write the documents that a store review asks for."),
    "verify": ("verify:verify", "Run a server's tools in containment; show false hints."),
    "receipt": ("receipt:app", "Sign the results of sayso verify, and check signatures."),
    "explain": ("explain:explain", "Show the decision for a call, and why; calls nothing."),
    "policy": ("policy:policy", "Write a policy, check it, and test its decisions."),
    "prompt": ("prompt:prompt", "Write the system prompt for a model that calls a server's tools."),
    "select": ("select:select", "Select the tools that a message needs, and say why."),
    "gateway": ("gateway:gateway", "Serve MCP servers at one address, with approvals."),
    "console": ("console:console", "Print a login link for the console of a running gateway."),
    "discover": ("discover:discover", "List the MCP servers that this machine's clients use."),
    "install": ("install:install", "Put the gateway in front of a client's servers."),
    "uninstall": ("install:uninstall", "Remove the gateway and restore the client's file."),
    "service": ("service:app", "Run the gateway as a systemd service of yours."),
    "drift": ("held_tools:drift", "Show tool changes that loosen hints, and accept them."),
    "quarantine": ("held_tools:quarantine", "Show tools that broke their contract; release them."),
    "grants": ("grants:app", "List standing approvals, and revoke them."),
    "keys": ("keys:app", "Create, list and revoke API keys for machines."),
    "audit": ("audit:app", "Read, verify and export the log of all calls."),
    "db": ("database:app", "Back up, restore, migrate or move the store."),
    "demo": ("demo:demo", "Serve a made-up business behind the gateway, to try sayso."),
}
_PAGES: Final = {
    "inspect": "explanation/hints",
    "infer": "guides/infer",
    "lint": "guides/lint",
    "rule": "guides/lint",
    "submit": "guides/stores",
    "verify": "guides/verify",
    "receipt": "guides/receipts",
    "explain": "guides/policy",
    "policy": "guides/policy",
    "prompt": "guides/prompt",
    "select": "guides/select",
    "gateway": "guides/gateway",
    "console": "guides/console",
    "discover": "guides/install",
    "install": "guides/install",
    "uninstall": "guides/install",
    "service": "guides/operating",
    "drift": "guides/gateway",
    "quarantine": "guides/contract",
    "grants": "guides/approvals",
    "keys": "guides/access",
    "audit": "guides/audit",
    "db": "guides/audit",
    "demo": "start/gateway",
}
for _name, (_where, _help) in _COMMANDS.items():
    app.add(_name, f"sayso.cli.{_where}", _help)


def _keep_ignoring_hangup() -> None:
    """Under nohup, ignore SIGHUP with a handler: unlike `SIG_IGN`, servers do not inherit it."""
    number = getattr(signal, "SIGHUP", None)
    is_main = threading.current_thread() is threading.main_thread()
    if number is not None and is_main and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda _number, _frame: None)


def run(words: Sequence[str]) -> int:
    """Run one command and return its exit code; words after `--` are a server's command."""
    _keep_ignoring_hangup()
    before, after = _split(words)
    is_json = "--json" in before
    try:
        code = _dispatch(before, after, is_json=is_json)
        sys.stdout.flush()  # raises BrokenPipeError here, not at exit
        return code
    except SaysoError as error:
        _report(error, is_json=is_json)
        return error.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe; redirect stdout, or Python's final flush fails.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # a bug, reported as an error
        if os.environ.get("SAYSO_DEBUG"):
            raise
        what = f"internal error: {type(error).__name__}: {error}"
        fix = "Set SAYSO_DEBUG=1 for a traceback, and please report it."
        _report(SaysoError(what, fix=fix), is_json=is_json)
        return _INTERNAL


def _report(error: SaysoError, *, is_json: bool) -> None:
    if is_structured():
        from sayso.cli.output import log_error

        log_error(error)
    else:
        print_errors([error], is_json=is_json)


def _dispatch(before: list[str], after: list[str] | None, *, is_json: bool) -> int:
    # With --json, standard error contains only JSON errors, so no warnings.
    set_up_logs(level=LogLevel.ERROR if is_json else None)
    parsed = app.parse(before)
    if not isinstance(parsed, Parsed):
        out().print(parsed.rstrip())
        if "--version" not in before:
            show_text(f"Documentation: {page_address(_page_of(before))}")
        return 0
    if parsed.takes_command:
        parsed.arguments["command"] = after
    elif after is not None:
        raise UsageError("this command accepts no arguments after --")
    return parsed.run() or 0


def _page_of(words: Sequence[str]) -> str:
    return _PAGES.get(words[0], "index") if words else "index"


def _split(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    if "--" not in words:
        return list(words), None
    index = words.index("--")
    return list(words[:index]), list(words[index + 1 :])
