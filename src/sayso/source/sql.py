"""Statements in SQL text, which may be incomplete."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_NOISE: Final = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'?", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z]+")
_INNER: Final = re.compile(
    r"\b(insert)\s+into\b|\b(delete)\s+from\b|\b(update)\s+[\w.\"`]+\s+set\b", re.IGNORECASE
)
_SETUP: Final = re.compile(
    r"create\s+(?:\w+\s+){0,3}if\s+not\s+exists\b|create\s+(?:\w+\s+)?(?:temp|temporary)\s",
    re.IGNORECASE,
)
_TABLE: Final = re.compile(
    r"\b(?:into|from|update|table|truncate|replace)\s+(?:if\s+exists\s+)?([\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_WRITES: Final = frozenset(
    ["INSERT", "UPDATE", "REPLACE", "MERGE", "UPSERT", "CREATE", "ALTER", "RENAME", "GRANT"]
)
_DELETES: Final = frozenset(["DELETE", "DROP", "TRUNCATE"])
_READS: Final = frozenset(
    """
    SELECT VALUES SHOW DESCRIBE DESC USE SET RESET BEGIN START COMMIT END ROLLBACK SAVEPOINT RELEASE
    ANALYZE VACUUM REINDEX ATTACH DETACH LOCK LISTEN NOTIFY PRAGMA TABLE DECLARE FETCH CLOSE
    """.split()
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its verb in capitals, and its table if known.

    `is_setup`: it only creates what is missing or temporary.
    """

    verb: str
    table: str = ""
    is_setup: bool = False

    @property
    def deletes(self) -> bool:
        return self.verb in _DELETES

    @property
    def writes(self) -> bool:
        return self.verb in _WRITES or self.deletes

    @property
    def is_known(self) -> bool:
        return self.writes or self.verb in _READS


def read_sql(text: str) -> Iterator[Statement]:
    """Yield the statements of a SQL text.

    >>> [
    ...     (statement.verb, statement.table)
    ...     for statement in read_sql("DELETE FROM notes; SELECT 'DROP TABLE x'")
    ... ]
    [('DELETE', 'notes'), ('SELECT', '')]
    """
    for part in _NOISE.sub(_blank, text).split(";"):
        if (found := _WORD.search(part)) and not part[: found.start()].strip("( \t\r\n"):
            yield _statement(found[0].upper(), part)


def _blank(match: re.Match[str]) -> str:
    if match[0].startswith("'"):
        return "''"
    return " "


def is_sql(text: str) -> bool:
    """Return whether a text starts like SQL."""
    return any(
        statement.is_known or statement.verb in ("WITH", "EXPLAIN") for statement in read_sql(text)
    )


def _statement(verb: str, text: str) -> Statement:
    if verb in ("EXPLAIN", "SELECT", "COPY"):
        return Statement("SELECT")
    if verb == "WITH":
        inner = _INNER.search(text)
        if inner is None:
            return Statement("SELECT")
        verb = next(group for group in inner.groups() if group).upper()
    if verb not in _WRITES | _DELETES:
        return Statement(verb)
    name = ""
    if table := _TABLE.search(text):
        name = table[1].strip('"`[]')
    return Statement(verb, name, bool(_SETUP.match(text.strip())))
