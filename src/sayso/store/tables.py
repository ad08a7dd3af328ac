"""The tables that `move_store` copies row by row: all except records and questions."""

from collections.abc import Mapping, Sequence
from typing import Final

from sayso.policy import subject_of
from sayso.store.session import Row, Session

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "answers": (
        "number", "person", "is_allowed", "channel", "strength", "at", "message", "edit",
        "expires", "mac",
    ),
    "grants": (
        "number", "binding", "subject", "client", "span", "conversation", "body", "approval",
        "given_by", "channel", "created", "revoked_at", "revoked_by", "last_used", "uses", "mac",
    ),
    "conversations": ("subject", "client", "started", "last"),
    "uses": ("subject", "client", "tool", "facts", "last"),
    "ticks": ("subject", "level", "tool", "at"),
    "api_keys": (
        "id", "name", "scopes", "roles", "created", "created_by", "expires", "mac", "revoked_at",
        "revoked_by", "used",
    ),
    "spent": ("token", "expires"),
    "definitions": (
        "place", "tool", "server", "definition", "mark", "since", "held", "held_mark",
        "held_since", "accepted", "accepted_by", "accepted_at", "revision",
    ),
    "quarantines": ("place", "tool", "server", "since", "evidence"),
    "claims": ("key", "subject", "request", "call", "writer", "answer", "expires"),
}  # fmt: skip

_OF_ACCOUNTS: Final = ("approvals", "grants", "conversations", "uses", "ticks", "claims")


def dump(session: Session) -> dict[str, list[Row]]:
    """Return all rows of these tables."""
    return {
        table: session.query(f"SELECT {', '.join(columns)} FROM {table}")
        for table, columns in COLUMNS.items()
    }


def restore(session: Session, rows: Mapping[str, Sequence[Row]]) -> None:
    """Write the rows that `dump` returned."""
    for table, columns in COLUMNS.items():
        places = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        session.insert(sql, rows.get(table, ()))


def accounts_of(session: Session, subject: str) -> list[str]:
    """Return a subject's account names in these tables: its own name, and one per tenant."""
    names = {
        name
        for table in _OF_ACCOUNTS
        for (name,) in session.query(
            f"SELECT DISTINCT subject FROM {table} WHERE subject LIKE 'tenant:%'"
        )
    }
    return [subject, *sorted(name for name in names if subject_of(name) == subject)]
