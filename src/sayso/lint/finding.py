"""What a rule says of a tool, and how loud it is."""

import json
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

Step = str | int
"""A key of an object or an index of an array."""


class Severity(StrEnum):
    """How loud a finding is, loudest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the loudest."""
        return _RANKS[self]


_RANKS: Final = {one: rank for rank, one in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Edit:
    """One mechanical change of a tool as it is saved: the value at `path`; it leaves where `None`.

    Objects on the way that are not there yet are made.
    """

    path: tuple[str, ...]
    value: Any = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule found: in words, where in the tool, and how it is mended without guessing.

    `at` leads to what it is about, from the tool's entry. `tools` names the tools of a remark
    about a server, in their order; the finding stands at the first.
    """

    message: str
    at: tuple[Step, ...] = ()
    edits: tuple[Edit, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of one rule, with everything that is needed to tell it.

    `index` is the tool's place in the list, `None` for what is about the whole server. `about`
    tells findings of one rule and tool apart, and does not change with the words of `message`.
    """

    code: str
    name: str
    severity: Severity
    server: str
    message: str
    tool: str = ""
    index: int | None = None
    at: tuple[Step, ...] = ()
    edits: tuple[Edit, ...] = ()
    about: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a baseline knows it by: no place in the list, and no word of its message."""
        return self.server, self.code, self.tool, self.about

    @property
    def fingerprint(self) -> str:
        """A digest of the same, for programs that follow a finding through a project's history."""
        return sha256(json.dumps(self.key).encode()).hexdigest()
