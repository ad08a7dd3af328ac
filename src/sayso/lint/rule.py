"""Rules, what they remark on, and the findings that become of it."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from sayso.lint.subject import Listing, Subject
from sayso.settings import Step

HEADINGS: Final = ("What it does", "Why is this bad", "Example", "Use instead", "Fix")
"""The headings of every rule's page, in their order."""
_NO_FIX: Final = "## Fix\nNone: what is right is its author's to say."
"""The last part of a page that does not write its own."""
_JSON: Final = re.compile(r"(## (?:Example|Use instead)\n)([{\[].+?)\n(?=\n|\Z)", re.DOTALL)
"""An example in JSON, as a page's source has it: without the marks of a block of code."""
_CODE: Final = re.compile(r"SS\d{3}")
_NAME: Final = re.compile(r"[a-z]+(?:-[a-z]+)*")
_MOST_NAMED: Final = 5


class Severity(StrEnum):
    """How loud a finding is, loudest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for the loudest."""
        return _RANKS[self]


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


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


Remarks = Iterator[Remark]


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


@dataclass(frozen=True, slots=True)
class Looked:
    """Which rules looked at a tool, and which of them found something; by code."""

    rules: frozenset[str]
    found: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Its name reads after "allow"; exactly one of the checks is given.

    `tool` looks at one tool, `server` at all of a server's, `after` at a tool once the others have.

    One that is not `is_default` looks only where a profile or `--select` asks for it. One that
    `is_folded` is told once for a server where it finds something at more than three tools.
    """

    code: str
    name: str
    severity: Severity
    tool: Callable[[Subject], Remarks] | None = None
    server: Callable[[Listing], Remarks] | None = None
    after: Callable[[Subject, Looked], Remarks] | None = None
    is_default: bool = True
    is_folded: bool = False

    def for_tool(self, check: Callable[[Subject], Remarks]) -> Callable[[Subject], Remarks]:
        """Register a function that looks at one tool as this rule's check."""
        REGISTERED.append(replace(self, tool=check))
        return check

    def for_server(self, check: Callable[[Listing], Remarks]) -> Callable[[Listing], Remarks]:
        """Register a function that looks at all tools of a server as this rule's check."""
        REGISTERED.append(replace(self, server=check))
        return check

    def afterwards(self, check: Callable[[Subject, Looked], Remarks]) -> None:
        """Register a function that looks at a tool once the other rules have."""
        REGISTERED.append(replace(self, after=check))

    @property
    def page(self) -> str:
        """What it does and why, in Markdown, from the docstring of its module."""
        check = self.tool or self.server or self.after
        text = (sys.modules[getattr(check, "__module__", __name__)].__doc__ or "").strip()
        page = _JSON.sub(r"\1```json\n\2\n```\n", f"{text}\n").strip()
        if "\n## Fix\n" in page:
            return page
        return f"{page}\n\n{_NO_FIX}"

    @property
    def summary(self) -> str:
        """The first line of its page, without the full stop."""
        return self.page.partition("\n")[0].rstrip(".")

    @property
    def faults(self) -> list[str]:
        """What is wrong with the rule itself; nothing for each of sayso's own."""
        checks = [
            (_CODE.fullmatch(self.code), "its code is SS and three digits"),
            (_NAME.fullmatch(self.name), "its name is words of small letters with hyphens"),
            (sum(map(bool, (self.tool, self.server, self.after))) == 1, "it has exactly one check"),
            (tuple(re.findall(r"^## (.+)$", self.page, re.MULTILINE)) == HEADINGS, "its headings"),
        ]
        return [what for holds, what in checks if not holds]


REGISTERED: Final[list[Rule]] = []
"""The rules of all modules that were imported; `all_rules` imports them and sorts these."""


def listed(names: Sequence[str]) -> str:
    """Return some names for a sentence, the first five of them.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    shown = ", ".join(name[:80] for name in names[:_MOST_NAMED])
    if len(names) <= _MOST_NAMED:
        return shown
    return f"{shown} and {len(names) - _MOST_NAMED} more"
