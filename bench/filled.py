"""A log of a million lines, made quickly: ten thousand real ones, and copies of them by SQL."""

import asyncio
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import psycopg

from sayso.audit import Event, Facts, Outcome
from sayso.audit.record import record, severity
from sayso.catalog import Tool, make_tool
from sayso.policy import LOCAL, Decision, Effect, Principal
from sayso.schema import digest
from sayso.store import RecordRow, is_postgres, open_store

LINES: Final = 1_000_000
CALLS: Final = 5_000
FIRST: Final = 1_780_000_000.0
SECONDS: Final = 3.0
"""Between two calls, so that the log covers some weeks."""
RARE: Final = "rarely-called"
"""A tool of the oldest lines alone: to find it, all others must be passed."""

_COPY: Final = """
    INSERT INTO records (call, at, event, body, payload, subject, previous, mac_key, digest, mac)
    SELECT call || {name}, at + {shift}, event, body, payload, subject, previous, mac_key, digest,
        mac
    FROM records WHERE seq > {first} AND seq <= {last} ORDER BY seq"""
_FAILING: Final = 400
"""One in so many calls ends in an error."""
_KINDS: Final = (
    ("list", {"readOnlyHint": True}, Effect.ALLOW),
    ("update", {"readOnlyHint": False, "destructiveHint": False}, Effect.ALLOW),
    ("delete", {"readOnlyHint": False, "destructiveHint": True}, Effect.CONFIRM),
)


def make_tools(servers: int = 5, each: int = 4) -> list[tuple[Tool, Effect]]:
    """Tools of some servers, of all levels."""
    return [
        (
            make_tool(
                f"server-{server}",
                {
                    "name": f"{kind}_{index}",
                    "title": f"{kind.title()} of {index}",
                    "annotations": hints,
                    "inputSchema": {"type": "object"},
                },
            ),
            effect,
        )
        for server in range(servers)
        for index in range(each)
        for kind, hints, effect in _KINDS
    ]


def make_lines(calls: int, *, seed: int = 7) -> list[RecordRow]:
    """Two lines for each call, as the log writes them: its attempt, and how it ended."""
    chance, tools = random.Random(seed), make_tools()  # noqa: S311 - a log that is the same each time
    rare = make_tool("server-0", {"name": RARE, "inputSchema": {"type": "object"}})
    rows: list[RecordRow] = []
    for number in range(calls):
        tool, effect = (rare, Effect.ALLOW) if number == 0 else chance.choice(tools)
        arguments = {"id": number, "note": "asked for by mail, and looked at twice since"}
        facts = Facts(
            f"{number:032x}",
            Principal(chance.choice([LOCAL, "amy", "bo"]), client=chance.choice(["desk", "night"])),
            tool,
            arguments,
            digest(arguments),
            Decision(effect, "mode:guarded", "it says what it does"),
        )
        at = FIRST + number * SECONDS
        outcome = Outcome.TOOL_ERROR if number % _FAILING == 1 else Outcome.OK
        loud = severity(tool.level, outcome)
        ended = {"outcome": str(outcome), "severity": loud, "milliseconds": 102.5}
        rows += [
            record(facts, at, Event.ATTEMPT),
            record(facts, at + 0.1, Event.OUTCOME, hidden=(), **ended),
        ]
    return [replace(row, digest="0" * 64, mac="0" * 64) for row in rows]


async def fill(url: str, lines: int = LINES) -> None:
    """Write that many lines into the empty database at `url`, and have it know what is in it."""
    rows = make_lines(min(CALLS, lines // 2))
    store = open_store(url)
    try:
        await store.records.append(rows)
    finally:
        await store.close()
    await asyncio.to_thread(_copy, url, len(rows), lines)


def _copy(url: str, size: int, lines: int) -> None:
    # The rare call stands in the first copy alone.
    texts = [
        _COPY.format(
            name=f"'-{number}'", shift=repr(number * size / 2 * SECONDS), first=2, last=size
        )
        for number in range(1, lines // size)
    ]
    if is_postgres(url):
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("SET search_path TO sayso")
            _run(db, texts)
            db.execute("VACUUM ANALYZE records")
        return
    with closing(sqlite3.connect(Path(url.removeprefix("sqlite:")), isolation_level=None)) as file:
        file.execute("PRAGMA synchronous = OFF")
        _run(file, texts)


def _run(db: Any, texts: list[str]) -> None:
    for text in texts:
        db.execute(text)
