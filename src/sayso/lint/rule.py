"""Rules, their remarks, and the findings made from remarks."""

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
"""The headings of every rule's page, in order."""
_NO_FIX: Final = "## Fix\nNot automatic: only the author knows what is right."
"""The last section of a page that has no section "Fix"."""
_JSON: Final = re.compile(r"(## (?:Example|Use instead)\n)([{\[].+?)\n(?=\n|\Z)", re.DOTALL)
"""A JSON example in a docstring, which has no code fence."""
_CODE: Final = re.compile(r"SS\d{3}")
_NAME: Final = re.compile(r"[a-z]+(?:-[a-z]+)*")
_MAX_NAMES: Final = 5


class Severity(StrEnum):
    """The severity of a finding, most severe first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """The position in the order of severities; 0 is the most severe."""
        return _RANKS[self]


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a saved tool: set `path` to `value`, or remove it if `value` is `None`.

    Missing objects along the path are created.
    """

    path: tuple[str, ...]
    value: Any = None


@dataclass(frozen=True, slots=True)
class Remark:
    """One problem that a rule found, with its path in the tool and the edits that fix it.

    A remark about a server names the affected `tools`; the report shows it at the first of them.
    """

    message: str
    at: tuple[Step, ...] = ()
    edits: tuple[Edit, ...] = ()
    tools: tuple[str, ...] = ()


Remarks = Iterator[Remark]


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark of one rule, with everything that reports need.

    `index` is the tool's position in the list, or `None` for the whole server. `about` tells apart
    the findings of one rule and tool. It does not depend on the wording of `message`.
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
        """The identity in a baseline, independent of position and wording."""
        return self.server, self.code, self.tool, self.about

    @property
    def fingerprint(self) -> str:
        """A digest of the key, for programs that track findings over time."""
        return sha256(json.dumps(self.key).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The codes of the rules that ran, and of the rules that reported this tool."""

    ran: frozenset[str]
    reported: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, with exactly one check. Its name completes the comment `# sayso: allow`.

    `tool` checks one tool, `server` all tools of a server, `after` one tool after all other rules.
    Without `is_default`, the rule runs only if a profile or `--select` names it. With `is_folded`,
    findings in more than three tools of a server are reported as one.
    """

    code: str
    name: str
    severity: Severity
    tool: Callable[[Subject], Remarks] | None = None
    server: Callable[[Listing], Remarks] | None = None
    after: Callable[[Subject, Outcome], Remarks] | None = None
    is_default: bool = True
    is_folded: bool = False

    def for_tool(self, check: Callable[[Subject], Remarks]) -> Callable[[Subject], Remarks]:
        REGISTERED.append(replace(self, tool=check))
        return check

    def for_server(self, check: Callable[[Listing], Remarks]) -> Callable[[Listing], Remarks]:
        REGISTERED.append(replace(self, server=check))
        return check

    def afterwards(self, check: Callable[[Subject, Outcome], Remarks]) -> None:
        REGISTERED.append(replace(self, after=check))

    @property
    def page(self) -> str:
        """The documentation in Markdown, from the docstring of the rule's module."""
        check = self.tool or self.server or self.after
        text = (sys.modules[getattr(check, "__module__", __name__)].__doc__ or "").strip()
        page = _JSON.sub(r"\1```json\n\2\n```\n", f"{text}\n").strip()
        if "\n## Fix\n" in page:
            return page
        return f"{page}\n\n{_NO_FIX}"

    @property
    def summary(self) -> str:
        return self.page.partition("\n")[0].rstrip(".")

    @property
    def faults(self) -> list[str]:
        checks = [
            (_CODE.fullmatch(self.code), "code must be SS and three digits"),
            (_NAME.fullmatch(self.name), "name must be lower-case words joined by hyphens"),
            (sum(map(bool, (self.tool, self.server, self.after))) == 1, "needs exactly one check"),
            (
                tuple(re.findall(r"^## (.+)$", self.page, re.MULTILINE)) == HEADINGS,
                "wrong headings",
            ),
        ]
        return [problem for holds, problem in checks if not holds]


REGISTERED: Final[list[Rule]] = []
"""The rules of all imported modules; `all_rules` imports and sorts them."""


def listed(names: Sequence[str]) -> str:
    """Join the first five names for a sentence.

    >>> listed(["a", "b"]), listed("abcdefgh")
    ('a, b', 'a, b, c, d, e and 3 more')
    """
    shown = ", ".join(name[:80] for name in names[:_MAX_NAMES])
    if len(names) <= _MAX_NAMES:
        return shown
    return f"{shown} and {len(names) - _MAX_NAMES} more"


def count_of(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count_of(1, "error"), count_of(2, "error")
    ('1 error', '2 errors')
    """
    if count != 1:
        noun += "s"
    return f"{count} {noun}"
