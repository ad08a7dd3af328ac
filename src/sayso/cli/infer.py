"""`sayso infer`: the hints that a tool's own text suggests, with reasons, and into its source."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, cast

import anyio
from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from sayso.catalog import fingerprint
from sayso.cli.address import check_seconds
from sayso.cli.surface import Answer, read_answers
from sayso.cli.terminal import out, plain, print_error, print_error_json, print_json, working
from sayso.connect import Target, parse_target
from sayso.errors import SaysoError, UsageError
from sayso.infer import Opinion, guess, join
from sayso.intent import HINT_NAMES, Guess, HintName, read_tool

_SCHEMA: Final = 1
_LEAST: Final = 0.5
_SUREST: Final = 0.999
"""What is guessed is never certain, whatever rounding would say."""

_BESIDE: Final = 44
"""The columns between name and reasons."""
_NARROWEST: Final = 12

Guesser = Callable[[object], dict[HintName, Guess]]

_PYTHON: Final = re.compile(r"(?P<path>.+\.py)(?::.*)?", re.DOTALL)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Second:
    """Whose second opinion counts.

    Parameters
    ----------
    reader
        Ask a language model for a second opinion on each tool: pydantic-ai:MODEL (needs the extra
        pydantic-ai), or module:function, called with the question. Looser hints then count only
        where both say so.
    opinions
        A file that keeps the second opinions by fingerprint, so that none is asked for twice;
        without --reader, those in it count.
    """

    reader: str | None = None
    opinions: str | None = None


_SECOND: Final = Second()


def infer(
    *target: str,
    json: bool = False,
    threshold: float | None = None,
    second: Second = _SECOND,
    timeout: float = 30.0,
    write: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Guess each tool's hints from its own text, with reasons; write them into its source.

    Reads name, title, description and input schema of each tool, and calls none.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), one
        entry of it (mcp.json#name), or a saved tools/list (tools.json). A command goes after --.
    json
        Print one JSON document.
    threshold
        Claim nothing that is less sure than this, from 0.5 to 1. Default: a bound for each hint.
    timeout
        Seconds to wait for a server.
    write
        Propose annotations for the tools of server.py that lack them, as a change to the file
        (needs the extra patch): shows it, and asks. What its author declared stays.
    dry_run
        With --write: show the change and leave it at that.
    yes
        With --write: do not ask.
    """
    check_seconds(timeout, "--timeout")
    _check_threshold(threshold)
    if not write and (dry_run or yes):
        fix = "Add --write, with the file of a server."
        raise UsageError("there is nothing to change", where="--write", fix=fix)
    words = target if command is None else [*target, *command]
    is_command = command is not None and not target
    path = _source(words, is_command=is_command) if write else ""
    targets = parse_target(words, is_command=is_command, command="infer")
    with working("Asking for the tools …"):
        found = anyio.run(read_answers, targets, timeout)
    guesser = _guesser(found, threshold, second)
    if write:
        from sayso.cli.annotate import annotate

        return annotate(path, found[0], guesser, is_json=json, is_dry=dry_run, is_sure=yes)
    return _show(targets, found, guesser, is_json=json)


def _check_threshold(threshold: float | None) -> None:
    if threshold is not None and not _LEAST <= threshold <= 1:
        fix = "Write a number from 0.5, a coin's toss, to 1."
        raise UsageError(f"{threshold} is no threshold", where="--threshold", fix=fix)


def _source(words: Sequence[str], *, is_command: bool) -> str:
    match = _PYTHON.fullmatch(words[0]) if len(words) == 1 and not is_command else None
    if match is None:
        fix = "Name the file: sayso infer --write server.py."
        raise UsageError("annotations are written into a Python file", where="--write", fix=fix)
    return match["path"]


def _guesser(
    found: Sequence[Answer | SaysoError],
    threshold: float | None,
    second: Second,
) -> Guesser:
    """What says of an entry of `tools/list` what is claimed of it; of one that is no tool, nothing.

    Asks the reader for what the file of opinions does not hold yet.
    """
    if second == _SECOND:
        return partial(_claimed, threshold, {})
    from sayso.cli.opinions import gather

    entries = [tool for answer in found if isinstance(answer, Answer) for tool in answer.entries]
    with working("Asking for second opinions …"):
        return partial(
            _claimed, threshold, anyio.run(gather, entries, second.reader, second.opinions)
        )


def _claimed(
    threshold: float | None, opinions: Mapping[str, Opinion], tool: object
) -> dict[HintName, Guess]:
    if not isinstance(tool, Mapping):
        return {}
    raw = cast("Mapping[str, Any]", tool)
    found = guess(raw, threshold=threshold)
    opinion = opinions.get(fingerprint(raw)) if opinions else None
    return found if opinion is None else join(found, opinion)


def name_of(tool: object) -> str | None:
    """The name of an entry of `tools/list`, where it has one."""
    name = cast("Mapping[str, Any]", tool).get("name") if isinstance(tool, Mapping) else None
    return name if isinstance(name, str) else None


def _show(
    targets: Sequence[Target],
    found: Sequence[Answer | SaysoError],
    guesser: Guesser,
    *,
    is_json: bool,
) -> int:
    if is_json:
        _print_json(targets, found, guesser)
    else:
        _print(targets, found, guesser)
    errors = [answer for answer in found if isinstance(answer, SaysoError)]
    for error in errors:
        (print_error_json if is_json else print_error)(error)
    return max((error.exit_code for error in errors), default=0)


def _print_json(
    targets: Sequence[Target], found: Sequence[Answer | SaysoError], guesser: Guesser
) -> None:
    if len(found) == 1:
        if isinstance(found[0], Answer):
            print_json({"schema": _SCHEMA, "tools": _tools(found[0], guesser)})
        return
    documents = [
        {"server": {"name": target.name}}
        | ({"tools": _tools(answer, guesser)} if isinstance(answer, Answer) else answer.to_dict())
        for target, answer in zip(targets, found, strict=True)
    ]
    print_json({"schema": _SCHEMA, "servers": documents})


def _tools(found: Answer, guesser: Guesser) -> list[dict[str, Any]]:
    return [{"name": name_of(tool), "hints": _hints(guesser(tool))} for tool in found.entries]


def _hints(said: Mapping[HintName, Guess]) -> dict[str, Any]:
    return {name: _hint(said.get(name)) for name in HINT_NAMES}


def _hint(guess_: Guess | None) -> dict[str, Any]:
    if guess_ is None:
        return {"value": None, "confidence": 0.0, "reasons": []}
    return {"value": guess_.value, "confidence": guess_.confidence, "reasons": list(guess_.reasons)}


def _print(
    targets: Sequence[Target], found: Sequence[Answer | SaysoError], guesser: Guesser
) -> None:
    console = out()
    pairs = zip(targets, found, strict=True)
    answers = [(target.name, answer) for target, answer in pairs if isinstance(answer, Answer)]
    for index, (name, answer) in enumerate(answers):
        if index:
            console.print()
        noun = "tool" if len(answer.entries) == 1 else "tools"
        console.print(Text(plain(f"{name}: {len(answer.entries)} {noun}"), style="bold"))
        if answer.entries:
            console.print(_table(answer.entries, guesser, console.width))


def _table(entries: Sequence[object], guesser: Guesser, width: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("tool", overflow="fold", max_width=max(_NARROWEST, (width - _BESIDE) // 2))
    for name in ("hint", "declared", "inferred", "sure"):
        table.add_column(name, no_wrap=True)
    table.add_column("why", overflow="fold")
    for tool in entries:
        name = plain(name_of(tool) or "(no name)")
        said = guesser(tool)
        for hint, *cells in _rows(tool, said):
            table.add_row(name, hint, *cells)
            name = ""
    return table


def _rows(tool: object, said: Mapping[HintName, Guess]) -> list[tuple[str | Text, ...]]:
    if not said:
        return [("", "", "", "", Text("its text does not tell", style="dim"))]
    declared = read_tool(cast("Mapping[str, Any]", tool)).intent.hints
    rows: list[tuple[str | Text, ...]] = []
    for name in HINT_NAMES:
        if (claim := said.get(name)) is None:
            continue
        word = declared[name]
        style = "yellow" if word not in (None, claim.value) else ""
        why = Text(plain("; ".join(claim.reasons)))
        value = Text(_word(claim.value), style=style)
        rows.append((name, _word(word), value, f"{min(claim.confidence, _SUREST):.1%}", why))
    return rows


def _word(value: bool | None) -> str:  # noqa: FBT001 - a hint's value is what it is about
    return "" if value is None else "yes" if value else "no"
