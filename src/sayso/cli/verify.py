"""`sayso verify`: run the tools of a server in containment, and show whether its hints are true."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import anyio
from cyclopts import Parameter

from sayso.cli.address import check_seconds
from sayso.cli.options import Command, Many, targets_of
from sayso.cli.terminal import out, talk
from sayso.cli.writable import check_writable, write_text
from sayso.connect import SavedTarget, Target
from sayso.errors import UsageError

if TYPE_CHECKING:
    from sayso.verify import Report, Terms

_MOST_CALLS: Final = 1000


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Start:
    """How the server is started, and what it is given.

    Parameters
    ----------
    fixture
        A folder that the server works on: it gets a copy at the same path. May be repeated.
    env
        A variable for the server, as NAME=VALUE. May be repeated.
    cwd
        Where the server runs; the folder of samples without it.
    own
        A path that holds the server's own state, which nobody else would miss. May be repeated.
    prepare
        A command that installs what the server needs, before: with the network, and no tool run.
    postgres
        Start a PostgreSQL for the server, and watch its rows. DATABASE_URL and PGHOST with its
        like tell it where; {postgres} in its command is the URL.
    uncontained
        Run the server without containment, with all rights that you have.
    """

    fixture: Many = None
    env: Many = None
    cwd: str | None = None
    own: Many = None
    prepare: str | None = None
    postgres: bool = False
    uncontained: bool = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Trial:
    """Which tools are called, how often, and with what.

    Parameters
    ----------
    tool
        Only this tool. May be repeated.
    hints
        A file (sayso.toml) that says what cannot be guessed: arguments, tools to leave out.
    profile
        default, or spec: there a value overwritten under its key is a loss too.
    calls
        How often each tool is called at most, before anything is tried again alone.
    seed
        What made-up arguments are made from: the same seed makes the same.
    timeout
        Seconds to wait for the server, and for each call.
    probe
        A command whose output is the state that a server behind a URL changes.
    all_tools
        Call also the tools behind a URL that may write. They are not contained.
    """

    tool: Many = None
    hints: str | None = None
    profile: Literal["default", "spec"] = "default"
    calls: int = 12
    seed: int = 0
    timeout: float = 30.0
    probe: str | None = None
    all_tools: bool = False


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Telling:
    """How it is told, and to whom.

    Parameters
    ----------
    format
        How to tell it: text, json or junit.
    json
        The same as --format json.
    output
        The file to write to, instead of the terminal.
    evidence
        Show what stands behind each refuted hint.
    receipt
        Write a signed receipt into this file.
    key
        The private key that signs it (sayso receipt keygen).
    """

    format: Literal["text", "json", "junit"] = "text"
    json: bool = False
    output: Annotated[str | None, Parameter(alias="-o")] = None
    evidence: bool = False
    receipt: str | None = None
    key: str | None = None


_START: Final = Start()
_TRIAL: Final = Trial()
_TELLING: Final = Telling()


def verify(
    *target: str,
    start: Start = _START,
    trial: Trial = _TRIAL,
    telling: Telling = _TELLING,
    command: Command = None,
) -> int:
    """Run a server's tools in containment, and show which of its hints are false.

    Each tool is called with made-up arguments, in a box without network and with copies of all
    that it may change. Exit code 1 where a hint is refuted, 2 where the words cannot be understood
    or nothing here contains a server, 4 where it cannot be started.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, or one entry of a client's configuration
        (mcp.json#name). A command goes after --; {world} in it is a folder of samples.
    """
    check_seconds(trial.timeout, "--timeout")
    if not 1 <= trial.calls <= _MOST_CALLS:
        raise UsageError(f"--calls is {trial.calls}", fix=f"Give a number from 1 to {_MOST_CALLS}.")
    if (telling.receipt is None) is not (telling.key is None):
        what = "--receipt and --key belong together"
        raise UsageError(what, fix="Make a key with sayso receipt keygen FILE.")
    if telling.receipt is not None and telling.key is not None:
        from sayso.keys import load_signing_key

        load_signing_key(Path(telling.key))
        check_writable(Path(telling.receipt), "--receipt")
    if telling.output is not None:
        check_writable(Path(telling.output), "--output")
    found = targets_of(target, command, "verify")
    terms = _terms(_only(found, [*target, *(command or ())]), start, trial)
    if telling.receipt is not None:
        terms = replace(terms, needs_package=True)
    form = "json" if telling.json else telling.format
    is_shown = form == "text" and telling.output is None
    report = anyio.run(_run, terms, is_shown, telling.evidence)
    if not is_shown:
        from sayso.verify import FORMATS

        text = FORMATS[form](report)
        if telling.output is None:
            sys.stdout.write(text)
        else:
            write_text(Path(telling.output), text)
    if telling.receipt is not None and telling.key is not None:
        from sayso.receipts import write_receipt

        write_receipt(report, Path(telling.key), Path(telling.receipt))
    return int(report.is_refuted)


def _only(targets: Sequence[Target], words: Sequence[str]) -> Target:
    if len(targets) == 1:
        return targets[0]
    names = ", ".join(target.name for target in targets)
    what = f"one server at a time is verified, and this names {len(targets)}"
    raise UsageError(what, where=words[0], fix=f"Name one: {words[0]}#NAME ({names}).")


def _terms(target: Target, start: Start, trial: Trial) -> "Terms":
    from sayso.verify import Profile, Terms

    if isinstance(target, SavedTarget):
        what = "a saved list has no server behind it"
        fix = "Name the server itself."
        raise UsageError(what, where=target.path, fix=fix)
    return Terms(
        target=target,
        fixtures=tuple(_folder(word) for word in start.fixture or ()),
        env=dict(_variable(word) for word in start.env or ()),
        cwd=start.cwd,
        own=tuple(start.own or ()),
        prepare=start.prepare or "",
        has_postgres=start.postgres,
        is_uncontained=start.uncontained,
        only=tuple(trial.tool or ()),
        hints=None if trial.hints is None else Path(trial.hints),
        profile=Profile(trial.profile),
        calls=trial.calls,
        seed=trial.seed,
        timeout=trial.timeout,
        probe=tuple(shlex.split(trial.probe or "")),
        calls_writes=trial.all_tools,
    )


def _folder(word: str) -> Path:
    path = Path(word).resolve()
    if not path.is_dir():
        raise UsageError("there is no such folder", where=word, fix="Name one that is there.")
    return path


def _variable(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name:
        raise UsageError(f"“{name}” sets no variable", fix="Write --env NAME=VALUE.")
    return name, value


async def _run(terms: "Terms", shows: bool, has_evidence: bool) -> "Report":  # noqa: FBT001 - by place
    from rich.console import Console

    from sayso.verify import Terminal
    from sayso.verify import verify as run

    results = out() if shows else Console(quiet=True)
    with Terminal(results, talk(), is_evidence=has_evidence) as terminal:
        return await run(terms, terminal.take)
