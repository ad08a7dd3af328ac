"""What is found of a handler: what it does to the world, what was left out, what cannot be told."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import HintName


class Kind(StrEnum):
    """What an effect is, by what it takes to have it back."""

    WRITES_FILE = "writes-file"
    DELETES_FILE = "deletes-file"
    WRITES_ROWS = "writes-rows"
    DELETES_ROWS = "deletes-rows"
    POSTS = "posts"
    DELETES_REMOTE = "deletes-remote"
    FETCHES = "fetches"
    CONNECTS = "connects"
    MAILS = "mails"
    SPAWNS = "spawns"
    SIGNALS = "signals"
    EVALUATES = "evaluates"


DELETES: Final = frozenset({Kind.DELETES_FILE, Kind.DELETES_ROWS, Kind.DELETES_REMOTE})
READS: Final = frozenset({Kind.FETCHES, Kind.CONNECTS})


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that a handler may do, and the line where.

    `chain` are the functions that lead there, the handler first. `verb` is the HTTP method, the
    SQL statement or the program. `is_open` is whether it surely goes to an address that is
    public, or that the caller names.
    """

    kind: Kind
    what: str
    file: str
    line: int
    chain: tuple[str, ...] = ()
    verb: str = ""
    is_open: bool = False

    @property
    def against(self) -> frozenset[HintName]:
        """The hints whose looser value it speaks against."""
        found: set[HintName] = set()
        if self.kind not in READS:
            found.add("read_only")
        if self.kind in DELETES:
            found.add("destructive")
        if self.is_open:
            found.add("open_world")
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is no effect: left out, or not to be told; and why."""

    what: str
    why: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Handler:
    """The function behind a tool, and all that was found.

    Where `unknown` is empty, nothing but `effects` and what is `ignored` was seen to happen.
    """

    name: str
    file: str
    line: int
    effects: tuple[Effect, ...] = ()
    unknown: tuple[Note, ...] = ()
    ignored: tuple[Note, ...] = ()
