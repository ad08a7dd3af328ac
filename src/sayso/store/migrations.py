"""The tables, as one list of steps per version. Steps of a released version never change."""

import json
import secrets
from collections.abc import Callable
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from sayso.errors import StoreError
from sayso.store.rows import storable
from sayso.store.session import Session

Step = Callable[[Session], None] | str
_ONE: Final[tuple[Step, ...]] = (
    """CREATE TABLE records (
        seq {serial}, call TEXT NOT NULL, at {real} NOT NULL, event TEXT NOT NULL,
        body TEXT NOT NULL){strict}""",
    "CREATE INDEX records_of_call ON records (call)",
    """CREATE TABLE approvals (
        number {serial}, binding TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL
            CHECK (state IN ('pending', 'approved', 'denied', 'used', 'expired')),
        created {real} NOT NULL, expires {real} NOT NULL, answered_at {real}, answered_by TEXT,
        channel TEXT, used_by TEXT){strict}""",
    # At most one question per binding is open, so a second caller joins the open question.
    """CREATE UNIQUE INDEX open_approval ON approvals (binding)
        WHERE state IN ('pending', 'approved')""",
)
_PERSONAL: Final = ("subject", "name", "arguments", "arguments_digest", "result_digest")


def _split_bodies(session: Session) -> None:
    done = 0
    sql = "SELECT seq, body FROM records WHERE seq > :done ORDER BY seq LIMIT 1000"
    while rows := session.query(sql, {"done": done}):
        for done, stored in rows:
            body: dict[str, Any] = json.loads(stored)
            payload = {name: body.pop(name) for name in _PERSONAL if name in body}
            payload["salt"] = secrets.token_hex(16)
            text = json.dumps(payload)
            values = {
                "seq": done,
                "body": json.dumps(body),
                "payload": text,
                "digest": sha256(text.encode()).hexdigest(),
                "subject": _subject(payload),
            }
            session.change(
                "UPDATE records SET body = :body, payload = :payload, digest = :digest, "
                "subject = :subject WHERE seq = :seq",
                values,
            )


def _subject(body: dict[str, Any]) -> str | None:
    subject = body.get("subject")
    return None if subject is None else storable(subject)


def _name_subjects(session: Session) -> None:
    for number, text in session.query("SELECT number, body FROM approvals"):
        values = {"number": number, "subject": _subject(json.loads(text))}
        session.change("UPDATE approvals SET subject = :subject WHERE number = :number", values)


_TWO: Final[tuple[Step, ...]] = (
    "ALTER TABLE records ADD COLUMN payload TEXT",
    "ALTER TABLE records ADD COLUMN subject TEXT",
    "ALTER TABLE records ADD COLUMN writer TEXT",
    "ALTER TABLE records ADD COLUMN idx {integer}",
    "ALTER TABLE records ADD COLUMN previous TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE records ADD COLUMN mac_key TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE records ADD COLUMN digest TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE records ADD COLUMN mac TEXT NOT NULL DEFAULT ''",
    # The database refuses two records in the same place of a chain.
    "CREATE UNIQUE INDEX place_in_chain ON records (writer, idx) WHERE writer IS NOT NULL",
    "ALTER TABLE approvals ADD COLUMN subject TEXT",
    "CREATE TABLE writers (writer TEXT PRIMARY KEY, owner TEXT NOT NULL, lease {real} NOT NULL)",
    _split_bodies,
    _name_subjects,
)

_THREE: Final[tuple[Step, ...]] = (
    "ALTER TABLE approvals ADD COLUMN needed {integer} NOT NULL DEFAULT 1",
    "ALTER TABLE approvals ADD COLUMN edit TEXT",
    # The key makes one person count once.
    """CREATE TABLE answers (
        number {integer} NOT NULL, person TEXT NOT NULL, is_allowed {integer} NOT NULL,
        channel TEXT NOT NULL, strength TEXT NOT NULL, at {real} NOT NULL, message TEXT,
        PRIMARY KEY (number, person))""",
    """CREATE TABLE grants (
        number {serial}, binding TEXT NOT NULL, subject TEXT NOT NULL, client TEXT NOT NULL,
        span TEXT NOT NULL, conversation {real}, body TEXT NOT NULL, approval {integer} NOT NULL,
        given_by TEXT NOT NULL, channel TEXT NOT NULL, created {real} NOT NULL,
        revoked_at {real}, revoked_by TEXT, last_used {real}, uses {integer} NOT NULL DEFAULT 0)""",
    "CREATE INDEX grants_of_binding ON grants (binding)",
    """CREATE TABLE conversations (
        subject TEXT NOT NULL, client TEXT NOT NULL, started {real} NOT NULL,
        last {real} NOT NULL, PRIMARY KEY (subject, client))""",
    """CREATE TABLE uses (
        subject TEXT NOT NULL, client TEXT NOT NULL, tool TEXT NOT NULL, facts TEXT NOT NULL,
        last {real} NOT NULL, PRIMARY KEY (subject, client, tool, facts))""",
    # Each caller's calls of the last minute, for rate limits.
    """CREATE TABLE ticks (
        subject TEXT NOT NULL, level TEXT NOT NULL, tool TEXT NOT NULL, at {real} NOT NULL)""",
    "CREATE INDEX ticks_of_subject ON ticks (subject, at)",
    "CREATE TABLE spent (token TEXT PRIMARY KEY, expires {real} NOT NULL)",
    """CREATE TABLE claims (
        key TEXT PRIMARY KEY, subject TEXT NOT NULL, request TEXT NOT NULL, call TEXT NOT NULL,
        writer TEXT NOT NULL, answer TEXT, expires {real} NOT NULL)""",
)

_FOUR: Final[tuple[Step, ...]] = (
    """CREATE TABLE api_keys (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, scopes TEXT NOT NULL, roles TEXT NOT NULL,
        created {real} NOT NULL, created_by TEXT NOT NULL, expires {real}, mac TEXT NOT NULL,
        revoked_at {real}, revoked_by TEXT, used {real})""",
    "CREATE INDEX api_keys_of_name ON api_keys (name)",
)

_FIVE: Final[tuple[Step, ...]] = (
    """CREATE TABLE definitions (
        place TEXT NOT NULL, tool TEXT NOT NULL, server TEXT NOT NULL, definition TEXT NOT NULL,
        mark TEXT NOT NULL, since {real} NOT NULL, held TEXT, held_mark TEXT, held_since {real},
        accepted TEXT, accepted_by TEXT, accepted_at {real}, revision {integer} NOT NULL,
        PRIMARY KEY (place, tool))""",
)

_SIX: Final[tuple[Step, ...]] = (
    """CREATE TABLE replicas (
        id TEXT PRIMARY KEY, address TEXT NOT NULL, keys TEXT NOT NULL, lease {real} NOT NULL)""",
)

# Records of erased people have no subject, so they are not in this index.
_SEVEN: Final[tuple[Step, ...]] = (
    "CREATE INDEX records_of_subject ON records (subject, seq) WHERE subject IS NOT NULL",
)

_EIGHT: Final[tuple[Step, ...]] = (
    """CREATE TABLE quarantines (
        place TEXT NOT NULL, tool TEXT NOT NULL, server TEXT NOT NULL, since {real} NOT NULL,
        evidence TEXT NOT NULL, PRIMARY KEY (place, tool))""",
)

# Older questions, answers and grants have no signature, so they do not count and are asked again.
_NINE: Final[tuple[Step, ...]] = (
    "ALTER TABLE approvals ADD COLUMN mac TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE answers ADD COLUMN edit TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE answers ADD COLUMN expires {real} NOT NULL DEFAULT 0",
    "ALTER TABLE answers ADD COLUMN mac TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE grants ADD COLUMN mac TEXT NOT NULL DEFAULT ''",
)

STEPS: Final = (_ONE, _TWO, _THREE, _FOUR, _FIVE, _SIX, _SEVEN, _EIGHT, _NINE)
SQLITE_TYPES: Final = {
    "integer": "INTEGER",
    "real": "REAL",
    "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "strict": " STRICT",
}
POSTGRES_TYPES: Final = {
    "integer": "BIGINT",
    "real": "DOUBLE PRECISION",
    "serial": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    "strict": "",
}
VERSION: Final = len(STEPS)


def upgrade(session: Session, types: dict[str, str], version: int, *, upto: int = VERSION) -> None:
    """Upgrade the tables from `version` to `upto`, in the open transaction.

    Raises `StoreError` if a row cannot be read.
    """
    for step in chain.from_iterable(STEPS[version:upto]):
        if isinstance(step, str):
            session.change(step.format(**types))
            continue
        try:
            step(session)
        except ValueError as error:
            fix = "Nothing was changed. Restore the database from a backup."
            raise StoreError("a row of the old tables is not JSON", fix=fix) from error


def check_version(version: int, where: str) -> None:
    """Raise `StoreError` if a newer sayso wrote the tables."""
    if version > VERSION:
        what = f"the database is of version {version}; this sayso supports versions to {VERSION}"
        fix = (
            "Install the sayso that wrote it or a newer one, or restore the backup from before the "
            "upgrade into an empty store: sayso db restore FILE."
        )
        raise StoreError(what, where=where, fix=fix)
