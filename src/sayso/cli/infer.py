"""`sayso infer`: the hints that a tool's own text suggests, with reasons, and into its source."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from sayso.cli.annotate import annotate
from sayso.cli.lint_input import PYTHON
from sayso.cli.opinions import Guesser, make_guesser
from sayso.cli.options import Command, Json, TargetWord, Timeout, targets_of
from sayso.cli.surface import Answer, ask_answers, errors_in, name_of
from sayso.cli.terminal import make_table, out, plain, plural, print_document, print_errors
from sayso.connect import Target
from sayso.errors import SaysoError, UsageError
from sayso.intent import HINT_NAMES, Guess, HintName, read_tool

_LEAST: Final = 0.5
_SUREST: Final = 0.999
"""What is guessed is never certain, whatever rounding would say."""

_BESIDE: Final = 44
"""The columns between name and reasons."""
_NARROWEST: Final = 12


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
    *target: TargetWord,
    json: Json = False,
    threshold: float | None = None,
    second: Second = _SECOND,
    timeout: Timeout = 30.0,
    write: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    command: Command = None,
) -> int:
    """Guess each tool's hints from its own text, with reasons; write them into its source.

    Reads name, title, description and input schema of each tool, and calls none.

    Parameters
    ----------
    threshold
        Claim nothing that is less sure than this, from 0.5 to 1. Default: a bound for each hint.
    write
        Propose annotations for the tools of server.py that lack them, as a change to the file
        (needs the extra patch): shows it, and asks. What its author declared stays.
    dry_run
        With --write: show the change and leave it at that.
    yes
        With --write: do not ask.
    """
    _check_threshold(threshold)
    if not write and (dry_run or yes):
        fix = "Add --write, with the file of a server."
        raise UsageError("there is nothing to change", where="--write", fix=fix)
    path = ""
    if write:
        path = _source(target, command)
    targets = targets_of(target, command, "infer")
    found = ask_answers(targets, timeout)
    guesser = make_guesser(found, threshold, second.reader, second.opinions)
    if write:
        return annotate(path, found[0], guesser, is_json=json, is_dry=dry_run, is_sure=yes)
    if json:
        _print_json(targets, found, guesser)
    else:
        _print(targets, found, guesser)
    return print_errors(errors_in(found), is_json=json)


def _check_threshold(threshold: float | None) -> None:
    if threshold is not None and not _LEAST <= threshold <= 1:
        fix = "Write a number from 0.5, a coin's toss, to 1."
        raise UsageError(f"{threshold} is no threshold", where="--threshold", fix=fix)


def _source(words: Sequence[str], command: list[str] | None) -> str:
    if len(words) == 1 and not command and (match := PYTHON.fullmatch(words[0])):
        return match["path"]
    fix = "Name the file: sayso infer --write server.py."
    raise UsageError("annotations are written into a Python file", where="--write", fix=fix)


def _print_json(
    targets: Sequence[Target], found: Sequence[Answer | SaysoError], guesser: Guesser
) -> None:
    if len(found) == 1:
        if isinstance(found[0], Answer):
            print_document(_tools(found[0], guesser))
        return
    documents = [
        {"server": {"name": target.name}, **_tools(answer, guesser)}
        for target, answer in zip(targets, found, strict=True)
    ]
    print_document({"servers": documents})


def _tools(answer: Answer | SaysoError, guesser: Guesser) -> dict[str, Any]:
    if isinstance(answer, SaysoError):
        return answer.to_dict()
    return {
        "tools": [
            {"name": name_of(tool), "hints": _hints(guesser(tool))} for tool in answer.entries
        ]
    }


def _hints(said: Mapping[HintName, Guess]) -> dict[str, Any]:
    unsaid: dict[str, Any] = {"value": None, "confidence": 0.0, "reasons": []}
    return {name: asdict(said[name]) if name in said else unsaid for name in HINT_NAMES}


def _print(
    targets: Sequence[Target], found: Sequence[Answer | SaysoError], guesser: Guesser
) -> None:
    console = out()
    pairs = zip(targets, found, strict=True)
    answers = [(target.name, answer) for target, answer in pairs if isinstance(answer, Answer)]
    for index, (name, answer) in enumerate(answers):
        if index:
            console.print()
        count = len(answer.entries)
        console.print(Text(plain(f"{name}: {count} {plural(count, 'tool')}"), style="bold"))
        if answer.entries:
            console.print(_table(answer.entries, guesser, console.width))


def _table(entries: Sequence[object], guesser: Guesser, width: int) -> Table:
    table = make_table()
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
    return {True: "yes", False: "no", None: ""}[value]
