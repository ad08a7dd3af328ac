"""Each caller's usage of tools, in tables whose size depends on the tools, not on the calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.store.rows import storable
from sayso.store.session import Session

_MINUTE: Final = 60.0
_ANY_CLIENT: Final = ""
"""Stands for the conversation of a subject through all its clients; no client has this name."""
_CONVERSE: Final = """INSERT INTO conversations (subject, client, started, last)
    VALUES (:subject, :client, :now, :now) ON CONFLICT (subject, client) DO UPDATE SET
    started = CASE WHEN conversations.last > :alive THEN conversations.started
        ELSE excluded.started END,
    last = CASE WHEN conversations.last > excluded.last THEN conversations.last
        ELSE excluded.last END"""
_USE: Final = """INSERT INTO uses (subject, client, tool, facts, last)
    VALUES (:subject, :client, :tool, :facts, :now)
    ON CONFLICT (subject, client, tool, facts) DO UPDATE SET last = excluded.last"""
_KEY_OF_USE: Final = ("subject", "client", "tool", "facts")
_KEY_OF_TICK: Final = ("subject", "level", "tool", "now")
_TICK: Final = "INSERT INTO ticks (subject, level, tool, at) VALUES (?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM ticks WHERE subject = :subject AND at <= :old"


@dataclass(slots=True)  # as RecordRow
class Use:
    """One call that is about to be sent, stored for decisions on later calls.

    `tool` identifies the tool's current definition, and `facts` is JSON that only higher floors
    read. A conversation ends after `idle` seconds. `grant` and `claim` are the call's grant and
    idempotency key, if it has them.
    """

    subject: str
    client: str
    tool: str
    level: str
    facts: str
    at: float
    idle: float
    grant: int | None = None
    claim: str | None = None


@dataclass(frozen=True, slots=True)
class Quota:
    """At most `most` calls of one caller per minute: in all, of one level, or of one tool."""

    most: int
    level: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Lapse:
    """A grant or an idempotency key that is no longer valid for a call."""

    grant: int | None = None
    claim: str | None = None


@dataclass(frozen=True, slots=True)
class UseRow:
    """The last use of a tool, and whether it was in the current conversation.

    `is_same_conversation` is `None` if unknown: the caller may have changed its client name.
    """

    tool: str
    facts: str
    last: float
    is_same_conversation: bool | None


@dataclass(frozen=True, slots=True)
class Tick:
    """One call within the last minute."""

    level: str
    tool: str
    at: float


@dataclass(frozen=True, slots=True)
class Usage:
    """One caller's usage: last uses since a time, and calls of the last minute, oldest first."""

    uses: tuple[UseRow, ...] = ()
    ticks: tuple[Tick, ...] = ()
    is_first_use: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """A query of a caller's usage; `since` and `now` in Unix seconds, `idle` in seconds.

    `first_use` is a tool to check for earlier uses. `has_ticks` requests the calls of the last
    minute. `is_claimed` means that the client's name is not verified.
    """

    subject: str
    client: str
    now: float
    idle: float
    since: float | None = None
    first_use: str | None = None
    has_ticks: bool = False
    is_claimed: bool = False


def converse(session: Session, subject: str, client: str, *, now: float, idle: float) -> None:
    """Continue a conversation, or begin one if the last call is too long ago."""
    for name in (_client(client), _ANY_CLIENT):
        values = {"subject": storable(subject), "client": name}
        session.change(_CONVERSE, {**values, "now": now, "alive": now - idle})


def begun(session: Session, subject: str, client: str) -> float | None:
    """Return when the last conversation of a caller began."""
    sql = "SELECT started FROM conversations WHERE subject = :subject AND client = :client"
    rows = session.query(sql, {"subject": storable(subject), "client": _client(client)})
    return rows[0][0] if rows else None


def _client(name: str) -> str:
    return storable(name) or "unknown"


def note(session: Session, uses: Sequence[Use]) -> None:
    """Store the usage of calls that are about to be sent. Equal rows are written once."""
    rows = [_values(use) for use in uses]
    everywhere = [{**row, "client": _ANY_CLIENT} for row in rows]
    callers = {(row["subject"], row["client"]): row for row in (*rows, *everywhere)}
    for caller in callers.values():
        session.change(_CONVERSE, caller)
    for subject in {row["subject"]: row for row in rows}.values():
        session.change(_FORGET, subject)
    tools = {tuple(row[name] for name in _KEY_OF_USE): row for row in rows}
    for tool in tools.values():
        session.change(_USE, tool)
    session.insert(_TICK, [tuple(row[name] for name in _KEY_OF_TICK) for row in rows])


def _values(use: Use) -> dict[str, Any]:
    return {
        "subject": storable(use.subject),
        "client": _client(use.client),
        "tool": use.tool,
        "level": use.level,
        "facts": use.facts,
        "now": use.at,
        "alive": use.at - use.idle,
        "old": use.at - _MINUTE,
    }


def exceeded(session: Session, use: Use, quotas: Sequence[Quota]) -> Quota | None:
    """Return the first of `quotas` that one more call would exceed."""
    if not quotas:
        return None
    recent = ticks(session, use.subject, use.at)
    for quota in quotas:
        count = sum(
            quota.level in (None, tick.level) and quota.tool in (None, tick.tool) for tick in recent
        )
        if count >= quota.most:
            return quota
    return None


def ticks(session: Session, subject: str, now: float) -> tuple[Tick, ...]:
    """Return a caller's calls of the last minute, oldest first."""
    sql = "SELECT level, tool, at FROM ticks WHERE subject = :subject AND at > :since ORDER BY at"
    values = {"subject": storable(subject), "since": now - _MINUTE}
    return tuple(Tick(*row) for row in session.query(sql, values))


def look(session: Session, request: Look) -> Usage:
    """Return the requested usage of one caller."""
    uses: tuple[UseRow, ...] = ()
    last_minute: tuple[Tick, ...] = ()
    if request.since is not None:
        uses = _uses(session, request, request.since)
    if request.has_ticks:
        last_minute = ticks(session, request.subject, request.now)
    is_first = request.first_use is not None and _is_first(
        session, request.subject, request.first_use
    )
    return Usage(uses, last_minute, is_first)


def _uses(session: Session, request: Look, since: float) -> tuple[UseRow, ...]:
    """Return the uses since a time, oldest first.

    If the client's name is not verified, it is unknown whether uses through other clients are of
    the same conversation: a client may have changed its name, or use another client's name.
    """
    sql = """SELECT uses.tool, uses.facts, uses.last, uses.client = :client AND EXISTS (
            SELECT 1 FROM conversations WHERE conversations.subject = uses.subject
            AND conversations.client = uses.client AND conversations.last > :alive
            AND conversations.started <= uses.last),
        EXISTS (SELECT 1 FROM conversations WHERE conversations.subject = uses.subject
            AND conversations.client = :any AND conversations.last > :alive
            AND conversations.started <= uses.last)
        FROM uses WHERE uses.subject = :subject AND uses.last >= :since ORDER BY uses.last"""
    values = {
        "subject": storable(request.subject),
        "client": _client(request.client),
        "any": _ANY_CLIENT,
        "since": since,
        "alive": request.now - request.idle,
    }
    return tuple(
        UseRow(tool, facts, last, _is_same(is_own, is_anyones, request))
        for tool, facts, last, is_own, is_anyones in session.query(sql, values)
    )


def _is_same(is_own: object, is_anyones: object, request: Look) -> bool | None:
    if is_own:
        return True
    if is_anyones and request.is_claimed:
        return None
    return False


def _is_first(session: Session, subject: str, tool: str) -> bool:
    sql = "SELECT 1 FROM uses WHERE subject = :subject AND tool = :tool LIMIT 1"
    return not session.query(sql, {"subject": storable(subject), "tool": tool})


def drop_of(session: Session, subject: str) -> None:
    """Delete one person's usage."""
    for table in ("conversations", "uses", "ticks"):
        session.change(f"DELETE FROM {table} WHERE subject = :subject", {"subject": subject})
