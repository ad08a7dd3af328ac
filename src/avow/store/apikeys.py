"""The statements on API keys: made once, found by id, taken back by a conditional update."""

from typing import Final

from avow.store.rows import ApiKeyRow, storable
from avow.store.session import Session

_FIELDS: Final = "id, name, scopes, roles, created, created_by, expires, mac"
_COLUMNS: Final = f"{_FIELDS}, revoked_at, revoked_by, used"
_ADD: Final = (
    f"INSERT INTO api_keys ({_FIELDS}) VALUES (:id, :name, :scopes, :roles, :created, "
    ":created_by, :expires, :mac)"
)
_FIND: Final = f"SELECT {_COLUMNS} FROM api_keys WHERE id = :id"
_ALL: Final = f"SELECT {_COLUMNS} FROM api_keys ORDER BY revoked_at IS NULL DESC, name, created, id"
_REVOKE: Final = (
    "UPDATE api_keys SET revoked_at = :now, revoked_by = :by "
    "WHERE (id = :which OR name = :which) AND revoked_at IS NULL"
)
# Never back: a replica whose clock is behind changes nothing.
_TOUCH: Final = "UPDATE api_keys SET used = :at WHERE id = :id AND (used IS NULL OR used < :at)"


def add(session: Session, row: ApiKeyRow) -> None:
    """Write a key that was just made."""
    values = {name: getattr(row, name) for name in _FIELDS.split(", ")}
    session.change(_ADD, {**values, "created_by": storable(row.created_by)})


def find(session: Session, number: str) -> ApiKeyRow | None:
    """The key of this id, whether it holds or not."""
    rows = session.query(_FIND, {"id": storable(number)})
    return ApiKeyRow(*rows[0]) if rows else None


def listed(session: Session) -> list[ApiKeyRow]:
    """All keys by name, those that were not revoked first."""
    return [ApiKeyRow(*row) for row in session.query(_ALL)]


def revoke(session: Session, which: str, *, by: str, now: float) -> int:
    """Take back the key of an id, or all of a name; how many there were to take."""
    values = {"which": storable(which), "by": storable(by), "now": now}
    return session.change(_REVOKE, values)


def touch(session: Session, number: str, *, at: float) -> None:
    """Note that a key was used about then."""
    session.change(_TOUCH, {"id": number, "at": at})


def drop_of(session: Session, subject: str) -> None:
    """Forget who made a key or took it back; the key stays."""
    for column in ("created_by", "revoked_by"):
        sql = f"UPDATE api_keys SET {column} = 'erased' WHERE {column} = :subject"
        session.change(sql, {"subject": subject})
