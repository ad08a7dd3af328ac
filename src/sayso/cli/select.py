"""`sayso select`: the right few tools of many for a message, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import anyio
from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from sayso.catalog import Selection, Selector
from sayso.cli.address import check_seconds
from sayso.cli.surface import Answer, read_answers
from sayso.cli.terminal import out, plain, print_error, print_error_json, print_json, talk, working
from sayso.connect import Target, parse_target
from sayso.errors import SaysoError, UsageError
from sayso.intent import Level

_SCHEMA: Final = 1
_USUAL: Final = 10
_COLOURS: Final = {Level.READ: "green", Level.WRITE: "yellow", Level.DESTRUCTIVE: "red"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What may be selected.

    Parameters
    ----------
    k
        How many tools at most; 10, unless --tokens bounds them. Of fewer than 20 tools none is
        left out because of it, but with --queries.
    exclude
        Leave out the tools of a level: read, write or destructive.
    unless_asked
        Leave out the tools of a level where the message does not ask for them itself.
    always
        A tool that is always in, by server__tool or by a name that only one has.
    tokens
        What names, descriptions and schemas may cost together, as estimated.
    """

    k: Annotated[int | None, Parameter(name=["--k", "-k"])] = None
    exclude: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = ()
    unless_asked: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = ()
    always: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = ()
    tokens: int | None = None

    @property
    def most(self) -> int | None:
        """How many tools at most."""
        return _USUAL if self.k is None and self.tokens is None else self.k

    def select(self, selector: Selector, message: str | Sequence[str], **more: Any) -> Selection:
        """The tools for a message."""
        return selector.select(
            message,
            self.most,
            exclude=self.exclude,
            unless_asked=self.unless_asked,
            always=self.always,
            tokens=self.tokens,
            **more,
        )


_BOUNDS: Final = Bounds()
Message = Annotated[tuple[str, ...], Parameter(name=["--message", "-m"], consume_multiple=False)]


def select(
    *target: str,
    message: Message = (),
    bounds: Bounds = _BOUNDS,
    queries: str | None = None,
    score: bool = False,
    why: bool = False,
    json: bool = False,
    timeout: float = 30.0,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Select the tools that a message needs out of those of any number of servers.

    Goes by the words of the message and of the tools, with no model and no network; calls no tool.
    Of fewer than 20 tools none is left out because of -k.

    Parameters
    ----------
    target
        Any number, each as for sayso inspect, or a file of one tool per line (tools.jsonl). A
        command goes after --.
    message
        What the agent was told. Several are a conversation: the last counts most.
    queries
        A file with many messages, one {"id": …, "query": …} per line: for each, a line with the
        ids or names of its tools, best first.
    score
        With --queries: say on stderr how many of the tools named under "relevant" were found.
    why
        Say why each tool was chosen.
    json
        Print one JSON document; with --queries, one per line.
    timeout
        Seconds to wait for a server.
    """
    from sayso.cli.queries import answer_queries, entries_of

    _check(target, command, message, queries, is_scored=score)
    check_seconds(timeout, "--timeout")
    targets = _targets(target, command)
    with working("Asking for the tools …"):
        found = anyio.run(read_answers, targets, timeout)
    if errors := [answer for answer in found if isinstance(answer, SaysoError)]:
        for error in errors:
            (print_error_json if json else print_error)(error)
        return max(error.exit_code for error in errors)
    answers = [answer for answer in found if isinstance(answer, Answer)]
    entries, problems = entries_of(zip(targets, answers, strict=True))
    selector = Selector(entries)
    for line in (*problems, *selector.problems):
        talk().print(plain(line))
    if queries is not None:
        return answer_queries(selector, bounds, queries, is_scored=score)
    selection = bounds.select(selector, message)
    if json:
        _print_json(selection, has_reasons=why)
    else:
        _print(selection, bounds.most, has_reasons=why)
    return 0


def _check(
    target: Sequence[str],
    command: list[str] | None,
    message: Sequence[str],
    queries: str | None,
    *,
    is_scored: bool,
) -> None:
    if not target and command is None:
        fix = "Name a server, a file with tools, or write a command after --."
        raise UsageError("there is nothing to select from", fix=fix)
    if queries is None and not any(text.strip() for text in message):
        raise UsageError("there is no message", fix='Give one: -m "what the agent is to do".')
    if queries is not None and message:
        raise UsageError("--queries and --message ask for two things", fix="Keep one of them.")
    if is_scored and queries is None:
        raise UsageError("--score needs --queries", fix="Name a file with messages.")


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
    document = {"total": selection.total, "left_out": left_out, "tools": chosen}
    print_json({"schema": _SCHEMA, **document})


def _print(selection: Selection, most: int | None, *, has_reasons: bool) -> None:
    console = out()
    noun = "tool" if selection.total == 1 else "tools"
    head = f"{len(selection.chosen)} of {selection.total} {noun}"
    left = ", ".join(f"{count} {why}" for why, count in selection.left_out.items())
    console.print(Text(f"{head}; left out: {left}" if left else head, style="bold"))
    if most is not None and len(selection.chosen) > most:
        console.print(Text(f"More than {most}: of fewer than 20 none is left out because of -k."))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("tool", overflow="fold")
    table.add_column("level", no_wrap=True)
    table.add_column("score", no_wrap=True, justify="right")
    if has_reasons:
        table.add_column("why", overflow="fold")
    for tool in selection.chosen:
        level = Text(str(tool.tool.level), style=_COLOURS[tool.tool.level])
        score = "pinned" if tool.is_pinned else f"{tool.score:.2f}"
        cells = (plain("; ".join(tool.reasons)),) if has_reasons else ()
        table.add_row(Text(plain(tool.name)), level, score, *(Text(cell) for cell in cells))
    if selection.chosen:
        console.print(table)
