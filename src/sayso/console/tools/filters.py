"""The search and filters of the tools page, which are in the URL's query."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Final, Self
from urllib.parse import urlencode

from sayso.catalog import Tool
from sayso.console.forms import number_in
from sayso.console.text import reveal
from sayso.console.words import HINTS, LEVELS
from sayso.intent import HINT_NAMES, HintName

PAGE: Final = 50
"""The number of tools on a page."""

_LONGEST: Final = 200
_MOST_PAGES: Final = 10_000
_CHANGED: Final = "change-not-accepted"
FINDINGS: Final[Mapping[str, str]] = {
    "some": "with findings",
    "none": "without findings",
    "changed": "changed, not accepted",
    "quarantined": "in quarantine",
}
SOURCES: Final[Mapping[str, str]] = {
    "default": "default",
    "inferred": "inferred",
    "declared": "declared",
    "verified": "verified",
    "operator": "set by the operator",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of tools; an empty filter matches all. `category` is written as a page shows it.

    `hint` is a hint and its value, as in `destructive-yes`. `source`: of `hint`, or of any hint.
    """

    q: str = ""
    level: str = ""
    hint: str = ""
    source: str = ""
    server: str = ""
    category: str = ""
    findings: str = ""
    page: int = 1

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        def text(name: str) -> str:
            return query.get(name, "").strip()[:_LONGEST]

        def one_of(name: str, known: Mapping[str, object]) -> str:
            return text(name) if text(name) in known else ""

        page = min(number_in(text("page")) or 1, _MOST_PAGES)
        return cls(
            q=text("q"),
            level=one_of("level", LEVELS),
            hint=one_of("hint", hint_choices()),
            source=one_of("source", SOURCES),
            server=text("server"),
            category=text("category"),
            findings=one_of("findings", FINDINGS),
            page=page,
        )

    @property
    def query(self) -> str:
        fields = {
            key: value
            for key, value in asdict(self).items()
            if value and (key, value) != ("page", 1)
        }
        return f"?{urlencode(fields, errors='replace')}" if fields else ""

    @property
    def is_empty(self) -> bool:
        return not any(value for key, value in asdict(self).items() if key != "page")

    def fits(self, tool: Tool) -> bool:
        return (
            self.level in ("", tool.level)
            and self.server in ("", tool.server)
            and self.category in ("", reveal(tool.intent.category or ""))
            and self._fits_hint(tool)
            and self._fits_findings(tool)
            and matches(tool, self.q)
        )

    def _fits_hint(self, tool: Tool) -> bool:
        name, _, value = self.hint.partition("-")
        names: list[HintName] = [known for known in HINT_NAMES if name in ("", known)]
        hints = [tool.resolved[known] for known in names]
        if value and hints[0].value is not (value == "yes"):
            return False
        return not self.source or any(hint.source == self.source for hint in hints)

    def _fits_findings(self, tool: Tool) -> bool:
        if self.findings == "changed":
            return any(finding.code == _CHANGED for finding in tool.findings)
        if self.findings == "quarantined":
            return bool(tool.quarantine)
        return not self.findings or bool(tool.findings) is (self.findings == "some")


@dataclass(frozen=True, slots=True)
class ToolPage:
    """A page of the matching tools, and the number of pages."""

    tools: Sequence[Tool]
    total: int
    page: int
    pages: int


def choose(tools: Sequence[Tool], filters: Filters) -> ToolPage:
    """Return the requested page of matching tools; a number that is too high is the last page."""
    fitting = [tool for tool in tools if filters.fits(tool)]
    pages = max(1, -(-len(fitting) // PAGE))
    page = min(filters.page, pages)
    return ToolPage(fitting[(page - 1) * PAGE : page * PAGE], len(fitting), page, pages)


@lru_cache(maxsize=1)
def hint_choices() -> Mapping[str, str]:
    """Return the choices of the hint filter with their labels."""

    def words(name: HintName, value: str) -> str:
        return f"{HINTS[name].name}: {value}"

    return {f"{name}-{value}": words(name, value) for name in HINT_NAMES for value in ("yes", "no")}


def matches(tool: Tool, query: str) -> bool:
    """Return whether a tool's title, names, level or description contain every word of `query`."""
    if not query:
        return True
    description = str(tool.raw.get("description") or "")
    text = f"{tool.title} {tool.name} {tool.server} {tool.level} {description}".lower()
    return all(word in text for word in query.lower().split())
