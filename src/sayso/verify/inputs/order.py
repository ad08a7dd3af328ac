"""The order of the tools in a run: tools that return values first, tools that remove last."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

from sayso.catalog import Tool
from sayso.intent import HintName
from sayso.verify.inputs.flattener import Flattener, items_of, table_of
from sayso.verify.inputs.role_rules import role_of
from sayso.verify.inputs.roles import Role, entity_of, is_reader, kinds_of, words_of_tool

_MAKES: Final = frozenset(["create", "new", "make", "init", "open", "start", "register", "mkdir"])
_SENDS: Final = frozenset(["send"])
_LISTS: Final = frozenset(["list", "ls", "search", "find", "browse", "enumerate"])

_MOST_NEEDS: Final = 100
"""The maximum number of required properties that are read."""


class Rank(IntEnum):
    """The place of a tool in a run."""

    LIST = 0
    """The tool reads, and needs no value from another tool."""
    READ = 1
    MAKE = 2
    CHANGE = 3
    SEND = 4
    DESTROY = 5


def rank_of(tool: Tool) -> Rank:
    """Return a tool's rank by the verbs in its name, else by its declared or inferred hints."""
    kinds = kinds_of(tool.raw)
    needs = needs_of(tool)
    if "destroy" in kinds and not kinds & {"add", "read"}:
        return Rank.DESTROY
    if _reads(tool):
        if not needs or _LISTS & set(words_of_tool(tool.raw)):
            return Rank.LIST
        return Rank.READ
    if _MAKES & set(words_of_tool(tool.raw)) or ("add" in kinds and not needs):
        return Rank.MAKE
    if "destroy" in kinds or (not kinds and _guessed(tool, "destructive") is True):
        return Rank.DESTROY
    if kinds & _SENDS and "add" not in kinds:
        return Rank.SEND
    return Rank.MAKE if "add" in kinds else Rank.CHANGE


def needs_of(tool: Tool) -> frozenset[str]:
    """Return the kinds of objects, such as `customer`, whose ids are required arguments."""
    schema = tool.input_schema or {}
    flattener = Flattener(schema)
    whole = flattener.flat(schema) or {}
    found: set[str] = set()
    for name in items_of(whole.get("required"))[:_MOST_NEEDS]:
        flat = flattener.flat(table_of(whole.get("properties")).get(name, True)) or {}
        meaning = role_of(str(name), flat, tool.raw)
        if meaning.role is Role.ID and meaning.entity:
            found.add(meaning.entity)
    return frozenset(found)


def order_tools(tools: Sequence[Tool], first: Sequence[str] = ()) -> list[Tool]:
    """Return the tools in order: reads, creates, reads again, updates, removals.

    A reading tool is listed twice if another tool creates something. Tools in `first` come before
    all others and are listed once.
    """
    by_name = {tool.name: tool for tool in tools}
    named = [by_name[name] for name in first if name in by_name]
    rest = [tool for tool in tools if tool not in named]
    ranked = sorted(
        ((rank_of(tool), index, tool) for index, tool in enumerate(rest)), key=lambda tool: tool[:2]
    )
    reads = [tool for rank, _, tool in ranked if rank <= Rank.READ]
    makes = [tool for rank, _, tool in ranked if rank is Rank.MAKE]
    makes.sort(key=lambda tool: len(needs_of(tool)))
    later = [tool for rank, _, tool in ranked if Rank.MAKE < rank < Rank.DESTROY]
    later += _last_made_first([tool for rank, _, tool in ranked if rank is Rank.DESTROY], makes)
    if not makes:
        return [*named, *reads, *later]
    return [*named, *reads, *makes, *reads, *later]


def _last_made_first(destroys: Sequence[Tool], makes: Sequence[Tool]) -> list[Tool]:
    """Return removals in the reverse order of the creations; those of everything come last.

    The removal of a project may remove its items too, which then no tool can remove.
    """
    made = {entity_of(words_of_tool(tool.raw)): number for number, tool in enumerate(makes, 1)}
    return sorted(destroys, key=lambda tool: -made.get(entity_of(words_of_tool(tool.raw)), 0))


def _reads(tool: Tool) -> bool:
    if kinds_of(tool.raw):
        return is_reader(tool.raw)
    declared = tool.intent.hints.read_only
    if declared is None:
        return bool(_guessed(tool, "read_only"))
    return declared


def _guessed(tool: Tool, name: HintName) -> bool | None:
    guess = tool.inferred.get(name)
    return guess and guess.value
