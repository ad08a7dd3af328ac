"""`avow verify`: run the tools of a server in containment, and show whether its hints are true."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from cyclopts import Parameter

from avow.cli.address import check_seconds
from avow.cli.terminal import out, talk
from avow.connect import SavedTarget, parse_target
from avow.errors import UsageError

if TYPE_CHECKING:
    from avow.verify.terms import Terms
    from avow.verify.verdict import Report

_MOST_CALLS = 1000

Many = Annotated[list[str] | None, Parameter(consume_multiple=False)]


def verify(  # noqa: PLR0913 - each is an option of its own
    *target: str,
    fixture: Many = None,
    env: Many = None,
    cwd: str | None = None,
    own: Many = None,
    prepare: str | None = None,
    tool: Many = None,
    hints: str | None = None,
    profile: Literal["default", "spec"] = "default",
    calls: int = 12,
    seed: int = 0,
    timeout: float = 30.0,
    postgres: bool = False,
    probe: str | None = None,
    all_tools: bool = False,
    uncontained: bool = False,
    format: Literal["text", "json", "junit", "sarif", "html"] = "text",  # noqa: A002 - a flag's name
    json: bool = False,
    output: Annotated[str | None, Parameter(alias="-o")] = None,
    evidence: bool = False,
    receipt: str | None = None,
    key: str | None = None,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
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
    fixture
        A folder that the server works on: it gets a copy at the same path. May be repeated.
    env
        A variable for the server, as NAME=VALUE. May be repeated.
    cwd
        Where the server runs; the folder of samples without it.
    own
        A path that holds the server's own state, which nobody else would miss. May be repeated.
    prepare
        A command that installs what the server needs, before, with the network and no tool run.
    tool
        Only this tool. May be repeated.
    hints
        A file (avow.toml) that says what cannot be guessed: arguments, tools to leave out.
    profile
        default, or spec: there a value overwritten under its key is a loss too.
    calls
        How often each tool is called at most, before anything is tried again alone.
    seed
        What made-up arguments are made from: the same seed makes the same.
    timeout
        Seconds to wait for the server, and for each call.
    postgres
        Start a PostgreSQL for the server, and watch its rows (DATABASE_URL says where it is).
    probe
        A command whose output is the state that a server behind a URL changes.
    all_tools
        Call also the tools behind a URL that may write. They are not contained.
    uncontained
        Run the server without containment, with all rights that you have.
    format
        How to tell it: text, json, junit, sarif or html.
    json
        The same as --format json.
    output
        The file to write to, instead of the terminal.
    evidence
        Show what stands behind each refuted hint.
    receipt
        Write a signed receipt into this file.
    key
        The private key that signs it (avow receipt keygen).
    """
    check_seconds(timeout, "--timeout")
    if not 1 <= calls <= _MOST_CALLS:
        raise UsageError(f"--calls is {calls}", fix=f"Give a number from 1 to {_MOST_CALLS}.")
    if (receipt is None) is not (key is None):
        what = "--receipt and --key belong together"
        raise UsageError(what, fix="Make a key with avow receipt keygen FILE.")
    words = target if command is None else [*target, *command]
    terms = _terms(
        words,
        is_command=command is not None and not target,
        fixtures=fixture or [],
        env=env or [],
        cwd=cwd,
        own=tuple(own or ()),
        prepare=prepare,
        only=tuple(tool or ()),
        hints=None if hints is None else Path(hints),
        profile=profile,
        calls=calls,
        seed=seed,
        timeout=timeout,
        has_postgres=postgres,
        probe=probe,
        calls_writes=all_tools,
        is_uncontained=uncontained,
    )
    how = "json" if json else format
    report = anyio.run(_run, terms, how == "text" and output is None, evidence)
    if how != "text" or output is not None:
        _write(report, how, output)
    if receipt is not None and key is not None:
        from avow.verify.receipt import write_receipt

        write_receipt(report, Path(key), Path(receipt))
    return int(report.is_refuted)


def _terms(
    words: Sequence[str],
    *,
    is_command: bool,
    fixtures: Sequence[str],
    env: Sequence[str],
    prepare: str | None,
    probe: str | None,
    profile: str,
    **more: Any,
) -> "Terms":
    from avow.verify.judge import Profile
    from avow.verify.terms import Terms

    targets = parse_target(words, is_command=is_command, command="verify")
    if len(targets) != 1:
        names = ", ".join(one.name for one in targets)
        what = f"one server at a time is verified, and this names {len(targets)}"
        raise UsageError(what, where=words[0], fix=f"Name one: {words[0]}#NAME ({names}).")
    if isinstance(targets[0], SavedTarget):
        what, fix = "a saved list has no server behind it", "Name the server itself."
        raise UsageError(what, where=targets[0].path, fix=fix)
    return Terms(
        target=targets[0],
        fixtures=tuple(_folder(one) for one in fixtures),
        env=dict(_variable(one) for one in env),
        prepare=tuple(shlex.split(prepare or "")),
        probe=tuple(shlex.split(probe or "")),
        profile=Profile(profile),
        **more,
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


async def _run(terms: "Terms", shows: bool, has_evidence: bool) -> "Report":  # noqa: FBT001
    """Run it, and show how it goes on; `anyio.run` gives arguments by their places."""
    from rich.console import Console

    from avow.verify.report.terminal import Terminal
    from avow.verify.run import verify as run

    results = out() if shows else Console(quiet=True)
    with Terminal(results, talk(), is_evidence=has_evidence) as terminal:
        return await run(terms, terminal.take)


def _write(report: "Report", how: str, output: str | None) -> None:
    from avow.verify.report import FORMATS

    text = FORMATS[how](report)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        Path(output).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        what = f"the report cannot be written: {error.strerror}"
        fix = "Check its folder and who may write there."
        raise UsageError(what, where=output, fix=fix) from error
