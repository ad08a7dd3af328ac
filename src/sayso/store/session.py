"""A session on either database, and the driver that opens it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from sayso.errors import StoreError

Row = tuple[Any, ...]


class Session(Protocol):
    """One connection, used by one thread at a time. Statements name their values as `:name`."""

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]: ...

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        """Return how many rows a statement changed."""
        ...

    def insert(self, sql: str, rows: Sequence[Row]) -> int:
        """Run a statement for each row, its values as `?`; return how many rows it changed."""
        ...

    def announce(self, channel: str, number: int) -> None:
        """Tell those that watch `channel`, once this is committed, that an approval changed."""
        ...

    def settle(self) -> None: ...

    def queue(self, name: str) -> None:
        """Serialize this transaction with others under this name."""
        ...

    def now(self) -> float:
        """Return Unix seconds of the clock that all users of the database share."""
        ...

    def renumber(self) -> None: ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """Knows one database: how to open it, and what its errors mean."""

    errors: ClassVar[tuple[type[Exception], ...]]
    """The errors that its sessions raise."""
    has_clock: ClassVar[bool]
    """True if the database has its own clock, which may differ from this machine's."""

    @property
    def where(self) -> str:
        """Return the address of the database, without a password."""
        ...

    def open(self) -> Session:
        """Open a session on an up-to-date database. Raises one of `errors` or `StoreError`."""
        ...

    async def watch(self, tell: Callable[[int], None], channel: str) -> None: ...

    def explain(self, error: Exception) -> StoreError: ...

    def is_lost(self, error: Exception) -> bool: ...

    def is_clash(self, error: Exception) -> bool: ...
