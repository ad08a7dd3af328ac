"""What an analysis of a tool's source may say of its handler. The analysis itself is elsewhere."""

from dataclasses import dataclass

from sayso.intent import HintName


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a handler does, and where: “opens a file for writing”, `server.py`, 14.

    `against` names the hint whose looser value it speaks against.
    """

    what: str
    file: str
    line: int
    against: HintName = "read_only"


@dataclass(frozen=True, slots=True)
class Handler:
    """The function behind a tool: where its definition begins, and what it surely does.

    What the analysis cannot tell is not among `deeds`.
    """

    file: str
    line: int
    deeds: tuple[Deed, ...] = ()
