"""`sayso verify`: run a server's tools in containment, and show which hints are false."""

import io
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import anyio

from sayso.cli.address import check_seconds
from sayso.cli.commands import option
from sayso.cli.latest_report import keep_report
from sayso.cli.options import Command, Many, targets_of
from sayso.cli.output_files import check_writable, write_text
from sayso.cli.terminal import out, talk
from sayso.connect import SavedTarget, Target
from sayso.errors import UsageError
from sayso.styled import Text

if TYPE_CHECKING:
    from sayso.verify import Report, Terms

_MAX_CALLS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """The server's command, environment and files.

    Parameters
    ----------
    fixture
        A folder with data for the server. The server sees a copy at the same path. Repeatable.
    env
        An environment variable for the server, as NAME=VALUE. Repeatable.
    cwd
        Working directory of the server. Default: a folder with sample files.
    own
        A path with the server's internal state; changes there count as harmless. Repeatable.
    prepare
        A command that installs the server's dependencies first. It has network access, and runs
        no tool.
    install_scripts
        With npx: run the packages' install scripts, for native modules. They run in a sandbox,
        with network access, before the server starts.
    postgres
        Start a PostgreSQL for the server, and observe its rows. The server gets DATABASE_URL and
        PG* variables; {postgres} in its command is the URL.
    uncontained
        Run the server without containment, with all your rights.
    """

    fixture: Many = None
    env: Many = None
    cwd: str | None = None
    own: Many = None
    prepare: str | None = None
    install_scripts: bool = False
    postgres: bool = False
    uncontained: bool = False


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """The calls: tools, number and arguments.

    Parameters
    ----------
    tool
        Call only this tool. Repeatable.
    hints
        A file (sayso.toml) with arguments that cannot be guessed, and tools to skip.
    profile
        default or spec. With spec, overwriting the value of a key also counts as destructive.
    quick
        Leave out further calls and the search for smaller arguments. Cannot be signed.
    calls
        Maximum calls of each tool (default: 12, with --quick 5). Calls that confirm a suspected
        false hint are extra.
    seed
        Seed of the generated arguments; the same seed gives the same arguments.
    timeout
        Seconds to wait for the server, and for each call.
    probe
        For a server behind a URL: a command that prints the server's state.
    all_tools
        For a server behind a URL: also call tools that may write. Nothing contains their changes.
    """

    tool: Many = None
    hints: str | None = None
    profile: Literal["default", "spec"] = "default"
    quick: bool = False
    calls: int | None = None
    seed: int = 0
    timeout: float = 30.0
    probe: str | None = None
    all_tools: bool = False


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The report and the receipt.

    Parameters
    ----------
    format
        Format of the report: text, json, junit or html.
    json
        Short for --format json.
    output
        The file for the report. Default: standard output.
    evidence
        Show the evidence for each refuted hint.
    receipt
        Write a signed receipt to this file. Requires --key.
    key
        The private key that signs the receipt (sayso receipt keygen).
    """

    format: Literal["text", "json", "junit", "html"] = "text"
    json: bool = False
    output: Annotated[str | None, option("-o")] = None
    evidence: bool = False
    receipt: str | None = None
    key: str | None = None


_SERVER: Final = ServerOptions()
_CALLS: Final = CallOptions()
_OUTPUT: Final = OutputOptions()


def verify(
    *target: str,
    server: ServerOptions = _SERVER,
    calls: CallOptions = _CALLS,
    output: OutputOptions = _OUTPUT,
    command: Command = None,
) -> int:
    """Run a server's tools in containment, and show which of its hints are false.

    Calls each tool with generated arguments, in a sandbox without network and with copies of your
    files. Exit code 1 if a hint is refuted, 2 if an option is wrong or this system has no
    containment, 4 if the server cannot start.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, or one entry of a client's configuration
        (mcp.json#name). A command goes after --; in it, {world} is a folder with sample files.
    """
    _check(calls, output)
    found = targets_of(target, command, "verify")
    terms = _terms(_only(found, [*target, *(command or ())]), server, calls)
    if output.receipt is not None:
        terms = replace(terms, needs_package=True)
    form = "json" if output.json else output.format
    is_shown = form == "text" and output.output is None
    report = anyio.run(_run, terms, is_shown, output.evidence)
    if not is_shown:
        _write(report, form, output.output)
    if output.receipt is not None and output.key is not None:
        from sayso.receipts import write_receipt

        write_receipt(report, Path(output.key), Path(output.receipt))
    elif not calls.quick:
        _keep(report, is_told=is_shown)
    return int(report.is_refuted)


def _check(calls: CallOptions, output: OutputOptions) -> None:
    """Check the options and files before the run. Raises `UsageError` and `KeysError`."""
    check_seconds(calls.timeout, "--timeout")
    if calls.calls is not None and not 1 <= calls.calls <= _MAX_CALLS:
        raise UsageError(f"--calls must be from 1 to {_MAX_CALLS}, got {calls.calls}")
    if (output.receipt is None) is not (output.key is None):
        what = "--receipt and --key require each other"
        raise UsageError(what, fix="Create a key with sayso receipt keygen FILE.")
    if output.receipt is not None and output.key is not None:
        from sayso.keys import load_signing_key

        if calls.quick:
            raise UsageError("a quick run cannot be signed", where="--quick", fix="Leave it out.")
        load_signing_key(Path(output.key))
        check_writable(Path(output.receipt), "--receipt")
    if output.output is not None:
        check_writable(Path(output.output), "--output")


def _write(report: "Report", form: str, file: str | None) -> None:
    from sayso.verify import FORMATS

    text = FORMATS[form](report)
    if file is None:
        sys.stdout.write(text)
    else:
        write_text(Path(file), text)


def _keep(report: "Report", *, is_told: bool) -> None:
    """Keep the report for `sayso receipt make`, if it is about a known package."""
    from sayso.verify import FORMATS

    if report.package and keep_report(FORMATS["json"](report)) and is_told:
        talk().print(Text("To sign this run: sayso receipt make --key KEY --out FILE"))


def _only(targets: Sequence[Target], words: Sequence[str]) -> Target:
    if len(targets) == 1:
        return targets[0]
    names = ", ".join(target.name for target in targets)
    what = f"sayso verify accepts one server, got {len(targets)}"
    raise UsageError(what, where=words[0], fix=f"Name one: {words[0]}#NAME ({names}).")


def _terms(target: Target, server: ServerOptions, calls: CallOptions) -> "Terms":
    from sayso.verify import Profile, Terms

    if isinstance(target, SavedTarget):
        what = "sayso verify requires a server, not a saved list"
        raise UsageError(what, where=target.path)
    return Terms(
        target=target,
        fixtures=tuple(_folder(word) for word in server.fixture or ()),
        env=dict(_variable(word) for word in server.env or ()),
        cwd=server.cwd,
        own=tuple(server.own or ()),
        prepare=server.prepare or "",
        runs_install_scripts=server.install_scripts,
        has_postgres=server.postgres,
        is_uncontained=server.uncontained,
        only=tuple(calls.tool or ()),
        hints=None if calls.hints is None else Path(calls.hints),
        profile=Profile(calls.profile),
        calls=calls.calls,
        is_quick=calls.quick,
        seed=calls.seed,
        timeout=calls.timeout,
        probe=tuple(shlex.split(calls.probe or "")),
        calls_writes=calls.all_tools,
    )


def _folder(word: str) -> Path:
    path = Path(word).resolve()
    if not path.is_dir():
        raise UsageError("no such folder", where=word)
    return path


def _variable(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name:
        raise UsageError(f"--env must be NAME=VALUE, got “{name}”")
    return name, value


async def _run(terms: "Terms", shows: bool, has_evidence: bool) -> "Report":  # noqa: FBT001 - by place

    from sayso.styled import Screen
    from sayso.verify import Terminal
    from sayso.verify import verify as run

    results = out() if shows else Screen(io.StringIO())
    with Terminal(results, talk(), is_evidence=has_evidence) as terminal:
        return await run(terms, terminal.take)
