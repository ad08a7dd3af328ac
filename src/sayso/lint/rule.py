"""A rule: its code, its name, how loud it is, its page, and one pure function that looks."""

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from sayso.lint.finding import Remark, Severity
from sayso.lint.subject import Listing, Subject

HEADINGS: Final = ("What it does", "Why is this bad", "Example", "Use instead", "Fix")
"""The headings of every rule's page, in their order."""

ToolCheck = Callable[[Subject], Iterable[Remark]]
ServerCheck = Callable[[Listing], Iterable[Remark]]
AfterCheck = Callable[[Subject, "Looked"], Iterable[Remark]]

_CODE: Final = re.compile(r"AV\d{3}")
_NAME: Final = re.compile(r"[a-z]+(?:-[a-z]+)*")


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
    tool: ToolCheck | None = None
    server: ServerCheck | None = None
    after: AfterCheck | None = None
    is_default: bool = True
    is_folded: bool = False

    @property
    def page(self) -> str:
        """What it does and why, in Markdown: the docstring of its module."""
        check = self.tool or self.server or self.after
        module = sys.modules[check.__module__] if check else None
        return ((module and module.__doc__) or "").strip()

    @property
    def summary(self) -> str:
        """The first line of its page, without the full stop."""
        return self.page.partition("\n")[0].rstrip(".")

    @property
    def faults(self) -> list[str]:
        """What is wrong with the rule itself; nothing for each of sayso's own."""
        checks = [
            (_CODE.fullmatch(self.code), "its code is AV and three digits"),
            (_NAME.fullmatch(self.name), "its name is words of small letters with hyphens"),
            (sum(map(bool, (self.tool, self.server, self.after))) == 1, "it has exactly one check"),
            (tuple(re.findall(r"^## (.+)$", self.page, re.MULTILINE)) == HEADINGS, "its headings"),
        ]
        return [what for holds, what in checks if not holds]
