"""The lives of `mortal`: their calls, and all points at which one may end."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.sample_tools import DELETE, READ, WRITE

from sayso.guard import STEPS
from sayso.intent import Span
from sayso.keys import Keyring

KEYS: Final = Keyring.of([b"k" * 32])
STEP_NAMES: Final = tuple(step.name for step in STEPS)

KINDS: Final = {
    "delete": DELETE,
    "clear": DELETE,
    "write": WRITE,
    "lost": WRITE,
    "keyed": WRITE,
    "keyed_delete": DELETE,
    "again": {**WRITE, "idempotentHint": True},
    "read": READ,
    "keyed_read": READ,
}
"""The tools, one for each kind of call. What `lost` and `again` answer first does not arrive."""

ASKS: Final = ("delete", "clear", "keyed_delete")
KEYED: Final = ("keyed", "keyed_delete", "keyed_read")
MAY_REPEAT: Final = ("again", "read", "keyed_read")
LOSES_ITS_ANSWER: Final = ("lost", "again")
SPANS: Final = {"delete": Span.ONCE, "keyed_delete": Span.ONCE, "clear": Span.SESSION}
"""For how long the person says yes."""


@dataclass(frozen=True)
class Life:
    """The calls of which round, and where the process is killed in which kind of call, if it is."""

    round: int
    point: str = ""
    kind: str = ""


def points() -> dict[str, tuple[str, ...]]:
    """Every point at which a life may end, with the kinds of calls that come by there."""
    every = tuple(KINDS)
    found = {f"{side} {name}": every for name in STEP_NAMES for side in ("enter", "left")}
    found |= {"waiting": ASKS, "sent": every, "ran": every}
    asked_for = {
        "claims.take": KEYED,
        "claims.settle": KEYED,
        "questions.open": ASKS,
        "questions.use": ASKS,
        "grants.use": ("clear",),
        "records.begin": every,
        "records.append": every,
        "records.take_over": ("",),
        "records.beat": ("",),
    }
    for name, kinds in asked_for.items():
        found |= {f"{side} {name}": kinds for side in ("before", "after")}
    committed = {
        "asked": ASKS,
        "attempt": every,
        "outcome": every,
        "use": ("",),
        "claim": ("",),
        "closing": ("",),
    }
    for name, kinds in committed.items():
        found |= {f"{side} the commit of {name}": kinds for side in ("before", "amid", "after")}
    return found


def needs_a_death(point: str) -> bool:
    """Return whether a life gets there only after one that was killed on its way to a server."""
    return "closing" in point


def plan(seed: int) -> Iterator[tuple[str, str]]:
    """Return the places to kill: each point of each kind of call once, in random order."""
    wanted = [(point, kind) for point, kinds in points().items() for kind in kinds]
    random.Random(seed).shuffle(wanted)  # noqa: S311 - chance for a test, to be had again
    for point, kind in wanted:
        if needs_a_death(point):
            yield "sent", "write"
        yield point, kind
