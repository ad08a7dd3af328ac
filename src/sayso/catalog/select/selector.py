"""The selector: finds the few tools that a message needs, within level limits."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Final

from sayso.catalog.select.candidates import Candidates, Pool
from sayso.catalog.select.entry import Entry, index_entry
from sayso.catalog.select.needs import Need, read_needs
from sayso.catalog.select.scoring import score_tools, top
from sayso.catalog.select.selection import Chosen, Selection, Why
from sayso.catalog.tokens import estimate
from sayso.errors import UsageError
from sayso.intent import Level

_FEW: Final = 20


@dataclass(frozen=True, slots=True)
class _Request:
    needs: Sequence[Sequence[Need]]
    pinned: Sequence[int]
    k: int | None
    tokens: int | None
    least: int


class Selector:
    """Selects the tools that a message needs, by their words. Thread-safe.

    Takes catalog tools, entries of `tools/list` and SDK tools. `count` counts tokens as the model
    does.

    >>> tools = [{"name": name} for name in ("customer_list", "customer_delete", "mail_send")]
    >>> Selector(tools).select("List all our customers.", k=1, least=0).names
    ('customer_list',)
    """

    def __init__(
        self, tools: Iterable[object] = (), *, count: Callable[[str], int] = estimate
    ) -> None:
        self._lock = RLock()
        self._candidates = Candidates()
        self._count = count
        self._sizes: dict[str, int] = {}
        self._problems: tuple[str, ...] = ()
        self.update(tools)

    def __len__(self) -> int:
        return len(self._candidates)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of the last update: entries that are not valid tools."""
        return self._problems

    def update(self, tools: Iterable[object]) -> None:
        """Replace all tools; only new, changed and removed ones are reindexed."""
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
            self._candidates.replace(entries)

    def add(self, tool: object) -> None:
        """Add a tool, or replace the one with its name. Raises `UsageError` for a non-tool."""
        entry = index_entry(tool)
        with self._lock:
            self._candidates.put(entry)

    def remove(self, name: str) -> None:
        """Remove a tool, by `server__tool` or by a unique name."""
        with self._lock:
            self._candidates.drop(self._candidates.find(name))

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
        """Return at most `k` tools that a message needs; of several messages the last counts most.

        Tools of the levels in `exclude` are ignored completely. Tools of the levels in
        `unless_asked` are ignored unless the message itself requests them. Tools named in `always`
        are pinned: included whatever their level. They count towards `k`. `tokens` limits the total
        of names, descriptions and schemas; with `k=None` only `tokens` limits. With fewer than
        `least` tools, `k` does not apply. Raises `UsageError` for an unknown level or pinned name,
        for `k` or `tokens` below 1, and if the pinned tools exceed `k` or `tokens`.
        """
        _check(k, tokens)
        texts = [message] if isinstance(message, str) else list(message)
        with self._lock:
            pinned = dict.fromkeys(self._candidates.find(name) for name in always)
            if k is not None and len(pinned) > k:
                what = f"{len(pinned)} tools are pinned, but k is {k}"
                raise UsageError(what, fix="Pin fewer tools, or raise k.")
            request = _Request(read_needs(texts), tuple(pinned), k, tokens, least)
            return self._select(request, _levels(exclude), _levels(unless_asked))

    def _select(
        self, request: _Request, hidden: frozenset[Level], held: frozenset[Level]
    ) -> Selection:
        pool = self._candidates.pool(request.needs, hidden, held)
        scores = self._scores(request, pool)
        is_few = len(self._candidates) < request.least
        if is_few:
            scores = dict.fromkeys(pool, 0.0) | scores
        pinned = [
            self._chosen(number, scores.pop(number, 0.0), request, is_pinned=True)
            for number in request.pinned
        ]
        room = len(scores)
        if request.k is not None and not is_few:
            room = min(room, request.k - len(pinned))
        ranked = top(scores, room, lambda number: self._candidates[number].key)
        chosen = pinned + [self._chosen(number, scores[number], request) for number in ranked]
        kept = chosen
        if request.tokens is not None:
            kept = self._within(chosen, request.tokens)
        pinned_numbers = set(request.pinned)
        counted: dict[Why, int] = {
            "excluded": len(pool.excluded - pinned_numbers),
            "not asked for": len(pool.unrequested - pinned_numbers),
            "no word in common": len(pool) - pool.count(pinned_numbers) - len(scores),
            "fits less": len(scores) - room,
            "over the budget": len(chosen) - len(kept),
        }
        left_out: dict[Why, int] = {why: count for why, count in counted.items() if count}
        return Selection(tuple(kept), len(self._candidates), left_out)

    def _scores(self, request: _Request, pool: Pool) -> dict[int, float]:
        enough = len(pool) if request.k is None else request.k
        return score_tools(pool.index, request.needs, pool.silent, enough=enough)

    def _chosen(
        self, number: int, score: float, request: _Request, *, is_pinned: bool = False
    ) -> Chosen:
        return Chosen(self._candidates[number], min(1.0, round(score, 4)), is_pinned, request.needs)

    def _within(self, chosen: Sequence[Chosen], tokens: int) -> list[Chosen]:
        """Return the tools that fit. A tool that is too large is skipped; later ones may fit."""
        kept: list[Chosen] = []
        remaining = tokens
        for tool in chosen:
            size = self._size(tool)
            if size <= remaining:
                kept.append(tool)
                remaining -= size
            elif tool.is_pinned:
                what = f"the pinned tools need more than {tokens} tokens"
                raise UsageError(what, fix="Pin fewer tools, or raise tokens.")
        return kept

    def _size(self, tool: Chosen) -> int:
        mark = tool.entry.fingerprint
        size = self._sizes.get(mark)
        if size is None:
            raw = tool.entry.raw
            texts = {key: raw[key] for key in ("description", "inputSchema") if key in raw}
            wire = {"name": tool.name, **texts}
            size = self._count(json.dumps(wire, ensure_ascii=False, default=str))
            self._sizes[mark] = size
        return size


def _levels(names: Collection[Level | str]) -> frozenset[Level]:
    known = {str(level): level for level in Level}
    unknown = next((level for level in names if str(level) not in known), None)
    if unknown is not None:
        raise UsageError(
            f"unknown level {str(unknown)!r}", fix=f"Choose one of {', '.join(known)}."
        )
    return frozenset(known[str(level)] for level in names)


def _check(k: int | None, tokens: int | None) -> None:
    for name, value in (("k", k), ("tokens", tokens)):
        if value is not None and (type(value) is not int or value < 1):
            raise UsageError(f"{name} must be at least 1, got {value!r}")
    if k is None and tokens is None:
        raise UsageError("nothing limits the selection", fix="Pass k or tokens.")
