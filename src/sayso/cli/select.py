"""`sayso select`: the tools that a message needs, and why."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Annotated, Any, Final, cast

from sayso.catalog import Entry, Selection, Selector, index_entry
from sayso.cli.commands import option
from sayso.cli.options import Command, Timeout
from sayso.cli.terminal import out, plain, plural, print_document, print_errors, show_text, talk
from sayso.cli.tool_reading import Answer, ask_answers, errors_in
from sayso.connect import SavedTarget, Target, parse_target
from sayso.errors import ConfigError, UsageError
from sayso.intent import Level
from sayso.settings import JsonFile, read_json_lines
from sayso.styled import Column, Table, Text

_FORM: Final = 'Each line must be {"id": "…", "query": "…"}.'
_DEFAULT_K: Final = 10
_COLOURS: Final = {Level.READ: "green", Level.WRITE: "yellow", Level.DESTRUCTIVE: "red"}


@dataclass(frozen=True, kw_only=True)
class SelectionOptions:
    """Limits of the selection.

    Parameters
    ----------
    k
        Maximum number of tools. With fewer than 20 tools in all it applies only to --queries.
        Default: 10, or no limit with --tokens.
    exclude
        Leave out the tools of this level: read, write or destructive. Repeatable.
    unless_asked
        Leave out the tools of this level unless the message asks for such an action. Repeatable.
    always
        Always include this tool, by server__tool or by a unique name. Repeatable.
    tokens
        Token limit for all names, descriptions and schemas together (estimated).
    """

    k: Annotated[int | None, option("--k", "-k")] = None
    exclude: tuple[str, ...] = ()
    unless_asked: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    tokens: int | None = None

    @property
    def most(self) -> int | None:
        """Maximum number of tools."""
        if self.k is None and self.tokens is None:
            return _DEFAULT_K
        return self.k

    def select(self, selector: Selector, message: str | Sequence[str], **more: Any) -> Selection:
        """Select the tools for a message."""
        return selector.select(
            message,
            self.most,
            exclude=self.exclude,
            unless_asked=self.unless_asked,
            always=self.always,
            tokens=self.tokens,
            **more,
        )


_LIMITS: Final = SelectionOptions()
Message = Annotated[tuple[str, ...], option("--message", "-m")]


def select(
    *target: str,
    message: Message = (),
    limits: SelectionOptions = _LIMITS,
    queries: str | None = None,
    why: bool = False,
    json: bool = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Select the tools of one or more servers that a message needs.

    Compares the words of the message with the words of the tools, without a model; calls no tool.
    With fewer than 20 tools in all, -k leaves out no tool.

    Parameters
    ----------
    target
        One or more targets, each as for sayso inspect, or a file with one tool per line
        (tools.jsonl). A command goes after --.
    message
        The user's message. Repeat it for a conversation; the last message counts most.
    queries
        A file with one {"id": …, "query": …} per line. Prints one line per query, with the ids or
        names of its tools, best first.
    why
        Show why each tool was selected.
    json
        Print one JSON document; with --queries, one per line.
    """
    _check(target, command, message, queries)
    targets = _targets(target, command)
    found = ask_answers(targets, timeout)
    if errors := errors_in(found):
        return print_errors(errors, is_json=json)
    answers = [answer for answer in found if isinstance(answer, Answer)]
    entries, problems = _entries_of(zip(targets, answers, strict=True))
    selector = Selector(entries)
    for line in (*problems, *selector.problems):
        talk().print(plain(line))
    if queries is not None:
        return _answer_queries(selector, limits, queries)
    selection = limits.select(selector, message)
    if json:
        _print_json(selection, has_reasons=why)
    else:
        _print(selection, limits.most, has_reasons=why)
    return 0


def _check(
    target: Sequence[str], command: list[str] | None, message: Sequence[str], queries: str | None
) -> None:
    if not target and command is None:
        fix = "Name a server, a file with tools, or write a command after --."
        raise UsageError("a target is required", fix=fix)
    if queries is None and not any(text.strip() for text in message):
        fix = 'For example: -m "refund the last order".'
        raise UsageError("--message or --queries is required", fix=fix)
    if queries is not None and message:
        raise UsageError("--queries and --message exclude each other", fix="Remove one.")


def _targets(words: Sequence[str], command: list[str] | None) -> tuple[Target, ...]:
    found = [target for word in words for target in parse_target([word], command="select")]
    if command is not None:
        found += parse_target(command, is_command=True, command="select")
    return tuple(found)


def _print_json(selection: Selection, *, has_reasons: bool) -> None:
    chosen = [
        {
            "name": tool.name,
            "level": str(tool.tool.level),
            "score": tool.score,
            "pinned": tool.is_pinned,
            "reasons": list(tool.reasons),
        }
        for tool in selection.chosen
    ]
    if not has_reasons:
        for tool in chosen:
            del tool["reasons"]
    left_out = dict(selection.left_out)
    print_document({"total": selection.total, "left_out": left_out, "tools": chosen})


def _print(selection: Selection, most: int | None, *, has_reasons: bool) -> None:
    noun = plural(selection.total, "tool")
    head = f"{len(selection.chosen)} of {selection.total} {noun}"
    if left := ", ".join(f"{count} {why}" for why, count in selection.left_out.items()):
        head = f"{head}; left out: {left}"
    show_text(head, "bold")
    if most is not None and len(selection.chosen) > most:
        show_text(f"More than {most}: with fewer than 20 tools, -k leaves out no tool.")
    table = Table()
    table.add_column("tool")
    table.add_column(Column("level", is_fixed=True))
    table.add_column(Column("score", is_fixed=True, is_right=True))
    if has_reasons:
        table.add_column("why")
    for tool in selection.chosen:
        level = Text(str(tool.tool.level), _COLOURS[tool.tool.level])
        score = "pinned" if tool.is_pinned else f"{tool.score:.2f}"
        cells = [Text(plain(tool.name)), level, Text(score)]
        if has_reasons:
            cells.append(Text(plain("; ".join(tool.reasons))))
        table.add_row(*cells)
    if selection.chosen:
        out().print(table)


def _entries_of(found: Iterable[tuple[Target, Answer]]) -> tuple[list[Entry], list[str]]:
    """Return the tools, and the problems of entries that are not tools.

    A record of a file may have an `id` that identifies it, a `server`, a `category`, and its
    `inputSchema` under `schema`.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    for target, answer in found:
        for given in answer.entries:
            try:
                entries.append(_entry(target, given))
            except UsageError as error:
                problems.append(f"{target.name}: {error}")
    return entries, problems


def _entry(target: Target, given: object) -> Entry:
    if not isinstance(target, SavedTarget):
        return index_entry(given, server=target.name)
    record = _record(given)
    origin = _text(record.get("id"))
    server = _text(record.get("server"))
    if not server and not isinstance(record.get("id"), str):
        server = target.name
    if isinstance(record.get("schema"), dict):
        record = {"inputSchema": record["schema"], **record}
    category = _text(record.get("category"))
    return index_entry(record, server=server, category=category, origin=origin)


def _answer_queries(selector: Selector, limits: SelectionOptions, path: str) -> int:
    for file in read_json_lines(path):
        known, query = _read(file)
        chosen = limits.select(selector, query, least=0).chosen
        names = [choice.entry.origin or choice.name for choice in chosen]
        sys.stdout.write(f"{dumps({'id': known, 'tools': names}, ensure_ascii=False)}\n")
    return 0


def _read(file: JsonFile) -> tuple[object, str]:
    record = _record(file.value)
    known = record.get("id")
    query = record.get("query")
    if not isinstance(known, str | int) or not isinstance(query, str):
        raise ConfigError("invalid query", where=file.where(), fix=_FORM)
    return known, query


def _record(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    return {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
