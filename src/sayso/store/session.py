"""A session on either database, and the driver that opens it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Protocol

from sayso.errors import StoreError

Row = tuple[Any, ...]


class Session(Protocol):
    """One connection, used by one thread at a time. Values in statements are named `:name`."""

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]: ...

    def pages(self, sql: str, size: int) -> Iterator[list[Row]]:
        """Yield the rows of a query in lists of at most `size`; needs an open transaction."""
        ...

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        """Run a statement, and return how many rows it changed."""
        ...

    def insert(self, sql: str, rows: Sequence[Row]) -> int:
        """Run a statement with `?` for values once per row; return how many rows changed."""
        ...

    def announce(self, channel: str, number: int) -> None:
        """After the commit, send the number of a changed approval to watchers of `channel`."""
        ...

    def settle(self) -> None: ...

    def queue(self, name: str) -> None:
        """Serialize this transaction with all others that queue under the same name."""
        ...

    def now(self) -> float:
        """Return the time in Unix seconds, by the clock that all users of the database share."""
        ...

    def renumber(self) -> None: ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """The driver of one database, which opens sessions and explains errors."""

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

    def snapshot(self) -> AbstractContextManager[tuple[Session, int]]:
        """Open a read-only session that sees one moment, with the version of the tables.

        Upgrades nothing; the version of a database without tables is 0.
        """
        ...

    def copy_to(self, path: Path, progress: Callable[[int, int], None]) -> int:
        """Copy one moment to a new SQLite file while others write; return the tables' version.

        `progress` gets how much is done, and of how much. Raises one of `errors` or `StoreError`.
        """
        ...

    def size(self, session: Session) -> int:
        """Return the bytes that the database takes on disk."""
        ...

    async def watch(self, notified: Callable[[int], None], channel: str) -> None: ...

    def explain(self, error: Exception) -> StoreError: ...

    def is_lost(self, error: Exception) -> bool: ...

    def is_clash(self, error: Exception) -> bool: ...
