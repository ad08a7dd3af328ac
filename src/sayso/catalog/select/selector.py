"""The selector: the right few of many tools for a message, with levels respected."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Final

from sayso.catalog.select.entry import Entry, index_entry
from sayso.catalog.select.fit import best, weigh_fit
from sayso.catalog.select.needs import Need, read_needs
from sayso.catalog.select.selection import Chosen, Selection, Why
from sayso.catalog.select.shelf import Field, Shelf
from sayso.catalog.tokens import estimate
from sayso.errors import UsageError
from sayso.intent import Level

_FEW: Final = 20


@dataclass(frozen=True, slots=True)
class _Ask:
    needs: Sequence[Sequence[Need]]
    pinned: Sequence[int]
    k: int | None
    tokens: int | None
    least: int


class Selector:
    """Tools from which those that a message needs are selected, by their words.

    Takes sayso's tools, entries of `tools/list`, and the SDK's tools; may be shared by threads.
    `count` is the model's own way to count tokens.

    >>> tools = [{"name": name} for name in ("customer_list", "customer_delete", "mail_send")]
    >>> Selector(tools).select("List all our customers.", k=1, least=0).names
    ('customer_list',)
    """

    def __init__(
        self, tools: Iterable[object] = (), *, count: Callable[[str], int] = estimate
    ) -> None:
        self._lock = RLock()
        self._shelf = Shelf()
        self._count = count
        self._sizes: dict[str, int] = {}
        self._problems: tuple[str, ...] = ()
        self.update(tools)

    def __len__(self) -> int:
        return len(self._shelf)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with what was given at last as tools, and is none."""
        return self._problems

    def update(self, tools: Iterable[object]) -> None:
        """Hold these tools and no others; only what came, went or changed is indexed anew."""
        entries: dict[str, Entry] = {}
        problems: list[str] = []
        for tool in tools:
            try:
                entry = index_entry(tool)
            except UsageError as error:
                problems.append(str(error))
                continue
            if entry.key in entries:
                problems.append(f"two tools are called {entry.qualified_name!r}; the first counts")
            entries.setdefault(entry.key, entry)
        with self._lock:
            self._problems = tuple(problems)
            self._shelf.replace(entries)

    def add(self, tool: object) -> None:
        """Hold one more tool, or another in the place of the one with its name.

        Raises `UsageError` for what is no tool.
        """
        entry = index_entry(tool)
        with self._lock:
            self._shelf.put(entry)

    def remove(self, name: str) -> None:
        """Let go of a tool, by `server__tool` or by a name that only one has."""
        with self._lock:
            self._shelf.drop(self._shelf.find(name))

    def select(
        self,
        message: str | Sequence[str],
        k: int | None = 10,
        *,
        exclude: Collection[Level | str] = (),
        always: Collection[str] = (),
        tokens: int | None = None,
        unless_asked: Collection[Level | str] = (),
        least: int = _FEW,
    ) -> Selection:
        """The tools that a message needs, `k` at most; of several messages the last counts most.

        `exclude` are levels whose tools are not there at all, and have no part in how others are
        ranked; tools of the levels in `unless_asked` are there only where the message itself asks
        for them. `always` are names of tools that are always in, whatever their level, and count
        within `k`. `tokens` is what their names, descriptions and schemas may cost together; with
        `k=None` it is the only bound. Where fewer than `least` tools are held, `k` leaves none out.

        Raises `UsageError` for a level or a pinned name that is not there, for a `k` or `tokens`
        below 1, and where what is pinned is more than these allow.
        """
        _check(k, tokens)
        texts = [message] if isinstance(message, str) else list(message)
        with self._lock:
            pinned = dict.fromkeys(self._shelf.find(name) for name in always)
            if k is not None and len(pinned) > k:
                what = f"{len(pinned)} tools are pinned, and {k} may be selected"
                raise UsageError(what, fix="Pin fewer, or select more.")
            ask = _Ask(read_needs(texts), tuple(pinned), k, tokens, least)
            return self._select(ask, _levels(exclude), _levels(unless_asked))

    def _select(self, ask: _Ask, hidden: frozenset[Level], held: frozenset[Level]) -> Selection:
        field = self._shelf.field(ask.needs, hidden, held)
        scores = self._scores(ask, field)
        is_few = len(self._shelf) < ask.least
        if is_few:
            scores = dict.fromkeys(field, 0.0) | scores
        pinned = [self._chosen(at, scores.pop(at, 0.0), ask, is_pinned=True) for at in ask.pinned]
        room = len(scores)
        if ask.k is not None and not is_few:
            room = min(room, ask.k - len(pinned))
        ranked = best(scores, room, lambda at: self._shelf[at].key)
        chosen = pinned + [self._chosen(at, scores[at], ask) for at in ranked]
        kept = chosen
        if ask.tokens is not None:
            kept = self._within(chosen, ask.tokens)
        own = set(ask.pinned)
        counted: dict[Why, int] = {
            "excluded": len(field.excluded - own),
            "not asked for": len(field.unasked - own),
            "no word in common": len(field) - field.count(own) - len(scores),
            "fits less": len(scores) - room,
            "over the budget": len(chosen) - len(kept),
        }
        left_out: dict[Why, int] = {why: count for why, count in counted.items() if count}
        return Selection(tuple(kept), len(self._shelf), left_out)

    def _scores(self, ask: _Ask, field: Field) -> dict[int, float]:
        enough = len(field) if ask.k is None else ask.k
        return weigh_fit(field.index, ask.needs, field.silent, enough=enough)

    def _chosen(self, at: int, score: float, ask: _Ask, *, is_pinned: bool = False) -> Chosen:
        return Chosen(self._shelf[at], min(1.0, round(score, 4)), is_pinned, ask.needs)

    def _within(self, chosen: Sequence[Chosen], tokens: int) -> list[Chosen]:
        """What there is room for; a tool that is too large lets smaller ones behind it by."""
        kept: list[Chosen] = []
        left = tokens
        for tool in chosen:
            size = self._size(tool)
            if size <= left:
                kept.append(tool)
                left -= size
            elif tool.is_pinned:
                what = f"the pinned tools cost more than {tokens} tokens"
                raise UsageError(what, fix="Pin fewer, or give more tokens.")
        return kept

    def _size(self, tool: Chosen) -> int:
        mark = tool.entry.fingerprint
        size = self._sizes.get(mark)
        if size is None:
            raw = tool.entry.raw
            said = {key: raw[key] for key in ("description", "inputSchema") if key in raw}
            wire = {"name": tool.name, **said}
            size = self._count(json.dumps(wire, ensure_ascii=False, default=str))
            self._sizes[mark] = size
        return size


def _levels(said: Collection[Level | str]) -> frozenset[Level]:
    known = {str(level): level for level in Level}
    unknown = next((level for level in said if str(level) not in known), None)
    if unknown is not None:
        fix = f"Levels are {', '.join(known)}."
        raise UsageError(f"{str(unknown)!r} is no level", fix=fix)
    return frozenset(known[str(level)] for level in said)


def _check(k: int | None, tokens: int | None) -> None:
    for name, value in (("k", k), ("tokens", tokens)):
        if value is not None and (type(value) is not int or value < 1):
            raise UsageError(f"{name} is {value!r}", fix="Give 1 or more.")
    if k is None and tokens is None:
        raise UsageError("nothing bounds the selection", fix="Give k, or tokens.")
