"""What a tool's name and parameters settle, however much else its text says.

The model weighs all that is said, and whoever writes a description can say much. What stands here
cannot be outweighed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from avow.infer.features import Found, lead_of, parts_of
from avow.infer.lexicon import KINDS, NOUNS, READS, SURELY_READ, verb_of
from avow.intent import HintName

_DESTROYS: Final = ("destroy",)
_JOINTS: Final = frozenset({"and", "or", "then"})
_CODE: Final = frozenset(f"px:{one}{need}" for one in ("code", "sql") for need in "!?")
_SAYS_IT_READS: Final = frozenset({"c:read-only", "c:select"})
_ACTIONS: Final = frozenset({"action", "command", "method", "op", "operation", "verb"})
_OUTSIDE: Final = frozenset(
    "crawl email http internet scrape sms tweet url urls web webpage website".split()
)
_MAYBE: Final = 0.5

_IS_DESTROYED: Final[Mapping[HintName, tuple[float, float]]] = {
    "read_only": (0.0, 0.02),
    "destructive": (0.94, 1.0),
}
"""Of 228 tools of the corpus whose name has a verb that only destroys none reads, 216 destroy; of
46 that say that it cannot be undone, none and 45."""
_UNDO: Final = "c:undo"
_IS_READ: Final = 0.985
"""Of 755 tools of the corpus whose name reads surely 748 read; by their authors 626 of 627."""


@dataclass(frozen=True, slots=True)
class Settled:
    """`barred` are the hints whose looser value is ruled out; `chances` bounds those of others."""

    barred: frozenset[HintName] = frozenset()
    bounds: Mapping[HintName, tuple[float, float]] = field(default_factory=dict[Any, Any])
    is_read: bool = False
    decisive: frozenset[str] = frozenset()
    """The features that settled something, where the model might not name them."""

    def chance(self, name: HintName, said: float) -> float:
        """The chance of a hint, of which the model says so much."""
        low, high = self.bounds.get(name, (0.0, 1.0))
        chance = max(low, min(high, said))
        if name == "read_only" and self.is_read and chance >= _MAYBE:
            return max(chance, _IS_READ)
        return chance


def settle(tool: Mapping[str, Any], found: Found) -> Settled:
    """What the features of a tool settle.

    A verb that can only write is no reading; one that only destroys is not harmless, nor what its
    text says cannot be undone. With two
    verbs (`get_or_create`) the stricter counts, and so with what a parameter may be; a file that
    is saved is a write. What runs code or SQL of the caller's choice reads only where its text
    says so. A name that speaks of the web reaches it.
    """
    name = tool.get("name")
    parts = parts_of(name) if isinstance(name, str) else []
    kinds = _kinds_of(parts)
    decisive = frozenset({_UNDO} & found.keys())
    destroys = _DESTROYS in kinds or bool(decisive)
    barred: set[HintName] = set()
    if "px:saves" in found or any(READS.isdisjoint(one) for one in kinds):
        barred.add("read_only")
    if destroys or _may_destroy(found) or _runs_anything(found):
        barred |= {"read_only", "destructive"}
    if not _OUTSIDE.isdisjoint(parts):
        barred.add("open_world")
    return Settled(
        frozenset(barred),
        _IS_DESTROYED if destroys else {},
        "read_only" not in barred and _surely_reads(parts),
        decisive,
    )


def _kinds_of(parts: list[str]) -> list[tuple[str, ...]]:
    """The kinds of the verb of a name, and of each that a joint adds."""
    joined = [
        KINDS[verb]
        for before, word in pairwise(parts)
        if before in _JOINTS and (verb := verb_of(word))
    ]
    lead = lead_of(parts)
    if lead is None:
        return joined
    is_last = lead.place == len(parts) - 1 and lead.verb not in NOUNS
    is_sure = lead.place == 0 or is_last or lead.kinds == _DESTROYS
    return [lead.kinds, *joined] if is_sure else joined


def _surely_reads(parts: list[str]) -> bool:
    """Whether the verb of a name surely reads, and no other word of it is a verb that writes."""
    lead = lead_of(parts)
    if lead is None or lead.verb not in SURELY_READ or lead.place not in (0, len(parts) - 1):
        return False
    return not any(
        one in KINDS and one not in NOUNS and READS.isdisjoint(KINDS[one]) for one in parts
    )


def _runs_anything(found: Found) -> bool:
    return not _CODE.isdisjoint(found) and _SAYS_IT_READS.isdisjoint(found)


def _may_destroy(found: Found) -> bool:
    """Whether an action that a parameter may name is a verb that only destroys."""
    return any(
        KINDS[feature.removeprefix("el:")] == _DESTROYS
        and not _ACTIONS.isdisjoint(parts_of(origin[1]))
        and parts_of(origin[2])[0] == feature.removeprefix("el:")
        for feature, origin in found.items()
        if feature.startswith("el:")
    )
