"""`sayso infer`: hints inferred from each tool's text, with reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from sayso.cli.annotate import annotate
from sayso.cli.lint_input import PYTHON
from sayso.cli.opinions import Guesser, make_guesser
from sayso.cli.options import Command, Json, TargetWord, Timeout, targets_of
from sayso.cli.terminal import make_table, out, plain, plural, print_document, print_errors
from sayso.cli.tool_reading import Answer, ask_answers, errors_in, name_of
from sayso.connect import Target
from sayso.errors import SaysoError, UsageError
from sayso.intent import HINT_NAMES, Guess, HintName, read_tool
from sayso.styled import Column, Table, Text

_LEAST: Final = 0.5
_SUREST: Final = 0.999
"""Highest confidence to print: rounding must not turn a guess into 100 %."""

_OTHER_COLUMNS: Final = 44
"""Width of the columns between name and reasons."""
_NARROWEST: Final = 12


@dataclass(frozen=True, kw_only=True)
class OpinionOptions:
    """Second opinions of a language model.

    Parameters
    ----------
    reader
        Ask this model for a second opinion on each tool: pydantic-ai:MODEL (requires the extra
        pydantic-ai), or module:function, a function that gets a question and returns the answer.
        A looser hint then counts only if the model and the inference agree.
    opinions
        A file that caches second opinions by fingerprint. Without --reader, sayso uses the cached
        opinions and asks no model.
    """

    reader: str | None = None
    opinions: str | None = None


_OPINIONS: Final = OpinionOptions()


def infer(
    *target: TargetWord,
    json: Json = False,
    threshold: float | None = None,
    second: OpinionOptions = _OPINIONS,
    timeout: Timeout = 30.0,
    write: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    command: Command = None,
) -> int:
    """Infer hints from each tool's text, with reasons; with --write, add them to its source.

    Reads the name, title, description and input schema of each tool; calls no tool.

    Parameters
    ----------
    threshold
        Minimum confidence of an inferred hint, from 0.5 to 1. Default: each hint has its own.
    write
        Add missing annotations to server.py (requires the extra patch). Shows the change, and
        asks. Existing annotations stay.
    dry_run
        With --write: only show the change.
    yes
        With --write: do not ask.
    """
    _check_threshold(threshold)
    if not write and (dry_run or yes):
        option = "--dry-run" if dry_run else "--yes"
        raise UsageError("requires --write", where=option)
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
        what = f"must be between {_LEAST} and 1, got {threshold}"
        raise UsageError(what, where="--threshold")


def _source(words: Sequence[str], command: list[str] | None) -> str:
    if len(words) == 1 and not command and (match := PYTHON.fullmatch(words[0])):
        return match["path"]
    fix = "Run sayso infer --write server.py."
    raise UsageError("requires a Python file", where="--write", fix=fix)


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


def _hints(guesses: Mapping[HintName, Guess]) -> dict[str, Any]:
    unknown: dict[str, Any] = {"value": None, "confidence": 0.0, "reasons": []}
    return {name: asdict(guesses[name]) if name in guesses else unknown for name in HINT_NAMES}


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
        console.print(Text(plain(f"{name}: {count} {plural(count, 'tool')}"), "bold"))
        if answer.entries:
            console.print(_table(answer.entries, guesser, console.width))


def _table(entries: Sequence[object], guesser: Guesser, width: int) -> Table:
    table = make_table()
    table.add_column(Column("tool", max_width=max(_NARROWEST, (width - _OTHER_COLUMNS) // 2)))
    for name in ("hint", "declared", "inferred", "sure"):
        table.add_column(Column(name, is_fixed=True))
    table.add_column("why")
    for tool in entries:
        name = plain(name_of(tool) or "(no name)")
        for hint, *cells in _rows(tool, guesser(tool)):
            table.add_row(name, hint, *cells)
            name = ""
    return table


def _rows(tool: object, guesses: Mapping[HintName, Guess]) -> list[tuple[str | Text, ...]]:
    if not guesses:
        return [("", "", "", "", Text("no evidence in its text", "dim"))]
    declared = read_tool(cast("Mapping[str, Any]", tool)).intent.hints
    rows: list[tuple[str | Text, ...]] = []
    for name in HINT_NAMES:
        guess = guesses.get(name)
        if guess is None:
            continue
        style = "yellow" if declared[name] not in (None, guess.value) else ""
        value = Text(_word(guess.value), style)
        why = Text(plain("; ".join(guess.reasons)))
        confidence = f"{min(guess.confidence, _SUREST):.1%}"
        rows.append((name, _word(declared[name]), value, confidence, why))
    return rows


def _word(value: bool | None) -> str:  # noqa: FBT001 - the value of a hint
    return {True: "yes", False: "no", None: ""}[value]
