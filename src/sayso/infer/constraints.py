"""Constraints from a tool's name and parameters, which no text can outweigh.

The model weighs all text, and an author can write much of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Final

from sayso.infer.certain import Certainty, surely_loses
from sayso.infer.features import Features, lead_of, parts_of
from sayso.infer.lexicon import KINDS, NOUNS, READS, SURELY_READ, verb_of
from sayso.intent import HINT_NAMES, HintName
from sayso.schema import object_of, text_of

DESTROYS: Final = ("destroy",)
_JOINTS: Final = frozenset({"and", "or", "then"})
_CODE: Final = frozenset(["px:code!", "px:code?", "px:sql!", "px:sql?"])
_SAYS_IT_READS: Final = frozenset({"c:read-only", "c:select"})
_ACTIONS: Final = frozenset({"action", "command", "method", "op", "operation", "verb"})
_OUTSIDE: Final = frozenset(
    "crawl email http internet scrape sms tweet url urls web webpage website".split()
)
_STORED: Final = frozenset(
    """
    account alert annotation api app application approval archive artifact asset attachment
    audit backup board bookmark branch bucket build calendar canary card cart category change
    channel chat check cluster collection column comment commit config configuration contact
    container contract conversation coupon credential customer dashboard database dataset
    datasource db deal deployment device directory disk document domain draft drive employee
    endpoint entity entry environment error event experiment export extension feature field file
    filter finding flag folder form function group host id image incident index instance
    integration inventory invite invoice issue item job key label lead library license list log
    mail mailbox meeting member memory merge message metric migration milestone model module
    monitor namespace network node note notebook notification object option order organization
    package page panel parameter participant path payment permission pipeline plan pod policy
    pool principal process product profile project prompt property pull queue record recording
    region registry release repo report repository request resource response review role room
    row rule run sandbox schedule schema script secret segment server service session setting
    shard site slot space span spec sprint stack stage state status stream subscription system
    table tag task team template tenant test thread ticket todo token tool trace transaction
    transcript trigger type upload usage user uuid variable version view volume voucher
    watchlist webhook widget workflow workspace
    """.split()
)
"""Things that a server usually stores. Anything else may be outside it."""
_MAX_PARAMETERS: Final = 100
_MAYBE: Final = 0.5

_IS_DESTROYED: Final[Mapping[HintName, tuple[float, float]]] = {
    "read_only": (0.0, 0.02),
    "destructive": (0.94, 1.0),
}
"""Of the corpus's 228 tools whose name has a purely destructive verb, none reads and 216 destroy.
Of the 46 tools whose text says that their effect cannot be undone, none reads and 45 destroy."""
_IS_CONTRADICTED: Final[Mapping[HintName, tuple[float, float]]] = {
    "read_only": (0.0, 0.05),
    "destructive": (0.92, 1.0),
}
"""Of the corpus's 1,352 tools that read, the texts of 12 state another action."""
_IS_NO_READ: Final[Mapping[HintName, tuple[float, float]]] = {
    "read_only": _IS_CONTRADICTED["read_only"]
}
"""`Save a note.` rules out a read, but not an addition."""
_IS_DOUBTFUL: Final[Mapping[HintName, tuple[float, float]]] = {"read_only": (0.0, 0.89)}
"""The upper bound is below the confidence that any undeclared hint needs."""
_UNDO: Final = "c:undo"
CLAUSE: Final = "clause"
"""The feature of a clause that contradicts any declared read."""
_IS_READ: Final = 0.985
"""Of the corpus's 755 tools whose name surely reads, 748 read. Of the 627 whose authors declare the
hint, 626 are declared to read."""


SURE: Final = 0.93
"""The confidence that the looser value of a doubted hint needs."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """The looser values of the hints in `blocked` are ruled out. `bounds` limits the chances.

    The looser values of those in `doubted` need the confidence `SURE`.
    """

    blocked: frozenset[HintName] = frozenset()
    doubted: frozenset[HintName] = frozenset()
    bounds: Mapping[HintName, tuple[float, float]] = field(default_factory=dict[Any, Any])
    is_read: bool = False
    decisive: frozenset[str] = frozenset()
    """Features that caused a constraint, to be reported as reasons."""

    def chance(self, name: HintName, estimate: float) -> float:
        low, high = self.bounds.get(name, (0.0, 1.0))
        chance = max(low, min(high, estimate))
        if name == "read_only" and self.is_read and chance >= _MAYBE:
            return max(chance, _IS_READ)
        return chance


def constraints_of(tool: Mapping[str, Any], features: Features, certain: Certainty) -> Constraints:
    """Return the constraints of a tool with these features and this certainty.

    A verb that can only write rules out a read. A purely destructive verb, or a text that says the
    effect cannot be undone, rules out a harmless tool. Of two verbs (`get_or_create`), and of the
    values of a parameter, the stricter counts. Saving a file is a write. A tool that runs the
    caller's code or SQL reads only if its text says so. A name that begins or ends with the
    web is open-world; one that mentions it makes it doubtful that a tool stays in one system.
    """
    parts = parts_of(text_of(tool.get("name")))
    kinds = kinds_of(parts)
    destroys = DESTROYS in kinds or _UNDO in features
    if certain.order is not None and not destroys:
        features[CLAUSE] = ("clause", certain.order)
    decisive = frozenset({_UNDO, CLAUSE} & features.keys())
    blocked: set[HintName] = set()
    if "px:saves" in features or any(map(READS.isdisjoint, kinds)):
        blocked.add("read_only")
    if destroys or _may_destroy(features) or _runs_anything(features):
        blocked |= {"read_only", "destructive"}
    if not _OUTSIDE.isdisjoint((*parts[:1], *parts[-1:])):
        blocked.add("open_world")
    may_leave = not _OUTSIDE.isdisjoint(parts) or _may_fetch(tool, parts)
    if not certain.is_readable:
        blocked.update(HINT_NAMES)
    if not certain.may_read:
        blocked.add("read_only")
    if certain.loses:
        blocked |= {"read_only", "destructive"}
    return Constraints(
        frozenset(blocked),
        frozenset({"open_world"} if may_leave else ()),
        _bounds(certain, destroys=destroys),
        "read_only" not in blocked and certain.is_certain and _surely_reads(parts),
        decisive,
    )


def _bounds(certain: Certainty, *, destroys: bool) -> Mapping[HintName, tuple[float, float]]:
    if destroys:
        return _IS_DESTROYED
    if certain.order is not None:
        return _IS_CONTRADICTED if surely_loses(certain.order) else _IS_NO_READ
    if certain.is_certain:
        return {}
    return _IS_DOUBTFUL


def kinds_of(parts: list[str]) -> list[tuple[str, ...]]:
    """Return the kinds of a name's verb, and of verbs joined by and, or, then."""
    joined = [
        KINDS[verb]
        for before, word in pairwise(parts)
        if before in _JOINTS and (verb := verb_of(word))
    ]
    lead = lead_of(parts)
    if lead is None:
        return joined
    is_last = lead.place == len(parts) - 1 and lead.verb not in NOUNS
    is_sure = lead.place == 0 or is_last or lead.kinds == DESTROYS
    if is_sure:
        joined.insert(0, lead.kinds)
    return joined


def _may_fetch(tool: Mapping[str, Any], parts: list[str]) -> bool:
    """Return whether a read may fetch what its server does not store, such as the weather."""
    lead = lead_of(parts)
    if lead is not None and READS.isdisjoint(lead.kinds) and parts[lead.place] == lead.verb:
        return False
    properties = object_of(object_of(tool.get("inputSchema")).get("properties"))
    named = islice(properties, _MAX_PARAMETERS)
    words = [word for name in named for word in parts_of(str(name))]
    return not any(map(_is_stored, (*parts, *words)))


def _is_stored(word: str) -> bool:
    singular = word.removesuffix("s")
    if word.endswith("ies"):
        singular = word[:-3] + "y"
    return not _STORED.isdisjoint((word, singular, word.removesuffix("es")))


def _surely_reads(parts: list[str]) -> bool:
    lead = lead_of(parts)
    if lead is None or lead.verb not in SURELY_READ or lead.place not in (0, len(parts) - 1):
        return False
    return not any(
        part in KINDS and part not in NOUNS and READS.isdisjoint(KINDS[part]) for part in parts
    )


def _runs_anything(features: Features) -> bool:
    return not _CODE.isdisjoint(features) and _SAYS_IT_READS.isdisjoint(features)


def _may_destroy(features: Features) -> bool:
    """Return whether a parameter may name a purely destructive action."""
    return any(
        KINDS[feature.removeprefix("el:")] == DESTROYS
        and not _ACTIONS.isdisjoint(parts_of(origin[1]))
        and parts_of(origin[2])[0] == feature.removeprefix("el:")
        for feature, origin in features.items()
        if feature.startswith("el:")
    )
