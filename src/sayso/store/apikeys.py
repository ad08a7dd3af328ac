"""API keys: added once, found by id, revoked by a conditional update."""

from typing import TYPE_CHECKING, Final

from sayso.store.rows import ApiKeyRow, storable
from sayso.store.session import Session

if TYPE_CHECKING:
    from sayso.store.executor import Executor

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
# The time only moves forward, even if a replica's clock is behind.
_TOUCH: Final = "UPDATE api_keys SET used = :at WHERE id = :id AND (used IS NULL OR used < :at)"


class ApiKeys:
    """The API keys of machines."""

    def __init__(self, executor: "Executor") -> None:
        self._executor = executor

    async def add(self, row: ApiKeyRow) -> None:
        values = {name: getattr(row, name) for name in _FIELDS.split(", ")}
        values["created_by"] = storable(row.created_by)
        await self._executor.change(_ADD, values)

    async def find(self, number: str) -> ApiKeyRow | None:
        rows = await self._executor.query(_FIND, {"id": storable(number)})
        return ApiKeyRow(*rows[0]) if rows else None

    async def all(self) -> list[ApiKeyRow]:
        return [ApiKeyRow(*row) for row in await self._executor.query(_ALL)]

    async def revoke(self, which: str, *, by: str, now: float) -> int:
        """Revoke the API key with this id, or all with this name; return how many were revoked."""
        values = {"which": storable(which), "by": storable(by), "now": now}
        return await self._executor.change(_REVOKE, values)

    async def touch(self, number: str, *, at: float) -> None:
        await self._executor.change(_TOUCH, {"id": number, "at": at})


def drop_of(session: Session, subject: str) -> None:
    """Erase a person's name as creator or revoker of API keys; the keys stay."""
    for column in ("created_by", "revoked_by"):
        sql = f"UPDATE api_keys SET {column} = 'erased' WHERE {column} = :subject"
        session.change(sql, {"subject": subject})
