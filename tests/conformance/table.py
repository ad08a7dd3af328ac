"""All that may differ between a server and the same server behind sayso, and why."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A difference: where it is, why there is one, and for whom alone.

    `where` is how the place begins (`step: path`), or what stands in it after a `*`. `of` names
    traits that a run must have: its client, its era, its door, what is behind.
    """

    where: str
    why: str
    of: frozenset[str] = frozenset()

    def speaks_of(self, place: str) -> bool:
        if self.where.startswith("*"):
            return self.where[1:] in place
        return place.startswith(self.where)


def rows(why: str, *places: str, of: str = "") -> list[Row]:
    """Rows of one reason; `of` names traits, with blanks between."""
    return [Row(place, why, frozenset(of.split())) for place in places]


TABLE: Sequence[Row] = (
    *rows(
        "sayso says how calls that wait are to be understood", "hello: .instructions", of="session"
    ),
    *rows("the gateway speaks a version that the server does not", "hello: .version", of="modern"),
    *rows(
        "each result of 2026-07-28 says who answers",
        "*.result._meta.io.modelcontextprotocol/serverInfo",
        of="modern",
    ),
    *rows(
        "2026-07-28 says how long a list may be remembered; the Python clients fill it in for all",
        "*.result.ttlMs",
        "*.result.cacheScope",
        of="modern typescript",
    ),
    *rows(
        "arguments are checked before the server is asked, and told with where and what",
        "a city that is not there: .result.content[0].text",
        "echo without its argument: .result.content[0].text",
    ),
    *rows("the same", "echo of a number: .result.content[0].text", of="session"),
    *rows(
        "that client drops a field that its version does not have",
        "*].execution.taskSupport",
        of="modern typescript",
    ),
    *rows(
        "a tool that may not be seen and one that is not there are one error",
        "a tool that is not there: ",
    ),
    *rows(
        "a server gets the variables that sayso gives it",
        "get-env: .result.content[0].text",
        of="stdio url",
    ),
    *rows("each has a port of its own", "get-env: .result.content[0].text", of="http"),
    *rows(
        "2026-07-28 has no such method",
        "ping: ",
        "level: ",
        of="modern",
    ),
    *rows(
        "tasks of 2025-11-25 are not passed on, those of 2026-07-28 are",
        "hello: .capabilities.tasks",
        of="session",
    ),
    *rows(
        "what sayso passes on is announced, since the servers behind may come later",
        "hello: .capabilities.extensions.io.modelcontextprotocol/tasks",
        of="modern",
    ),
    *rows(
        "a person is told who asks, so no server can speak as sayso does",
        "trigger-elicitation-request: .asked[0].message",
        "trigger-url-elicitation: .asked[0].message",
        of="session",
    ),
    *rows(
        "that client drops a field that its version does not have",
        "trigger-url-elicitation: .asked[0].elicitationId",
        of="modern typescript",
    ),
    *rows(
        "an older server is told that all can be answered: its connection outlives the clients",
        "tools: .result.tools[get-roots-list]",
        "tools: .result.tools[trigger-elicitation-request]",
        "tools: .result.tools[trigger-sampling-request]",
        "tools: .result.tools[trigger-url-elicitation]",
        of="inspector",
    ),
    *rows(
        "what the client of a call cannot answer is refused, in words that say so",
        "get-roots-list: ",
        "trigger-elicitation-request: ",
        "trigger-sampling-request: ",
        "trigger-url-elicitation: ",
        of="inspector",
    ),
)


def unlisted(found: Mapping[str, str], table: Sequence[Row], run: AbstractSet[str]) -> list[str]:
    """What the table is wrong about: differences that it does not list, rows that nothing shows."""
    mine = [one for one in table if one.of <= run]
    return [
        *(
            f"differs, and no row says why: {place} | {what}"
            for place, what in found.items()
            if not any(row.speaks_of(place) for row in mine)
        ),
        *(
            f"differs no more, take the row out: {row.where} ({row.why})"
            for row in mine
            if not any(row.speaks_of(place) for place in found)
        ),
    ]
