"""A result as a collapsible tree and as raw text, both of limited size."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.console.arguments import kind_of
from sayso.schema import cut

_MOST_NODES: Final = 400
_DEEPEST: Final = 12
_LONGEST: Final = 4_000
_RAW: Final = 20_000
_START: Final = 80


@dataclass(frozen=True, slots=True)
class Node:
    """A value: its name, kind, and text or inner nodes; `more` is the number of omitted nodes."""

    name: str
    kind: str
    text: str = ""
    nodes: "tuple[Node, ...]" = ()
    more: int = 0

    @property
    def has_nodes(self) -> bool:
        return bool(self.nodes or self.more)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a result's content: a text, a JSON value, or only its kind."""

    kind: str
    text: str = ""
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """A result as a page shows it."""

    is_error: bool
    blocks: tuple[Block, ...]
    structured: Node | None
    raw: str


def result_of(answer: Mapping[str, Any]) -> Result:
    """Return a `tools/call` result for display, even if it is invalid."""
    content: Any = answer.get("content")
    if not isinstance(content, list):
        content = []
    shown = tuple(_block(block) for block in cast("list[Any]", content)[:_MOST_NODES])
    tree = None
    if (structured := answer.get("structuredContent")) is not None:
        tree = _tree_of("", structured)
        # Omit JSON texts, which repeat the structured content; the raw result shows them.
        shown = tuple(block for block in shown if block.node is None)
    return Result(answer.get("isError") is True, shown, tree, cut(_raw(answer), _RAW))


def _raw(answer: Any) -> str:
    try:
        return json.dumps(answer, ensure_ascii=False, indent=2, default=str)
    except RecursionError:
        return "The result is nested too deeply to be shown."


def _tree_of(name: str, value: Any) -> Node:
    """Return a JSON value as a tree of at most a few hundred nodes."""
    return _TreeBuilder().node(name, value, 0)


class _TreeBuilder:
    def __init__(self) -> None:
        self._left = _MOST_NODES

    def node(self, name: str, value: Any, depth: int) -> Node:
        self._left -= 1
        if isinstance(value, dict | list) and value:
            members = [*_members(value)]
            noun = "field" if isinstance(value, dict) else "item"
            kind = f"{len(members):,} {noun}{'s' * (len(members) != 1)}"
            nodes: tuple[Node, ...] = ()
            if depth < _DEEPEST:
                nodes = tuple(self._grow(members, depth))
            return Node(name, kind, nodes=nodes, more=len(members) - len(nodes))
        return Node(name, kind_of(value), cut(_text(value), _LONGEST))

    def _grow(self, members: list[tuple[str, Any]], depth: int) -> Iterator[Node]:
        for name, value in members:
            if self._left <= 0:
                return
            yield self.node(name, value, depth + 1)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from cast("dict[str, Any]", value).items()
        return
    for index, item in enumerate(cast("list[Any]", value)):
        yield str(index + 1), item


def _block(block: object) -> Block:
    if not isinstance(block, dict):
        return Block("invalid block", cut(_text(block), _LONGEST))
    members = cast("dict[str, Any]", block)
    kind = str(members.get("type"))
    text = members.get("text")
    if kind == "text" and isinstance(text, str):
        value = _json_in(text)
        if value is None:
            return Block("text", cut(text, _RAW))
        return Block("JSON in a text", node=_tree_of("", value))
    data = members.get("data")
    if isinstance(data, str):
        return Block(
            f"{kind}, {members.get('mimeType')}, about {len(data) * 3 // 4:,} bytes: not shown"
        )
    return Block(
        kind, node=_tree_of("", {key: item for key, item in members.items() if key != "type"})
    )


def _json_in(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict | list):
        return cast("Any", value)
    return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _raw(value)
