"""The result of an analysis: effects of a handler, ignored calls, and unknown ones."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.intent import HintName


class Kind(StrEnum):
    """The kind of an effect."""

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
    """A possible effect of a handler, with its line.

    `chain` are the calling functions, the handler first. `verb` is the HTTP method, the first word
    of the SQL, or the program. `is_open`: the address is surely public, or named by the caller.
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
        hints: set[HintName] = set()
        if self.kind not in READS:
            hints.add("read_only")
        if self.kind in DELETES:
            hints.add("destructive")
        if self.is_open:
            hints.add("open_world")
        return frozenset(hints)


@dataclass(frozen=True, slots=True)
class Note:
    """A call that is ignored or unknown, with the reason."""

    what: str
    why: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Handler:
    """The function behind a tool, with the result of its analysis.

    If `unknown` is empty, `effects` and `ignored` are complete.
    """

    name: str
    file: str
    line: int
    effects: tuple[Effect, ...] = ()
    unknown: tuple[Note, ...] = ()
    ignored: tuple[Note, ...] = ()
