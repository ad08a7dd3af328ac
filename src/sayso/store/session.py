"""What the two databases have in common: a session, and who opens one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from sayso.errors import StoreError

Row = tuple[Any, ...]


class Session(Protocol):
    """One connection, used by one thread at a time. Statements name their values as `:name`."""

    def query(self, sql: str, values: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a statement."""
        ...

    def change(self, sql: str, values: Mapping[str, Any] | None = None) -> int:
        """How many rows a statement changed."""
        ...

    def insert(self, sql: str, rows: Sequence[Row]) -> int:
        """Run one statement, its values as `?`, for each row; how many rows that changed."""
        ...

    def announce(self, channel: str, number: int) -> None:
        """Tell those that watch `channel`, once this is committed, that an approval changed."""
        ...

    def settle(self) -> None:
        """Run the triggers that wait for the commit."""
        ...

    def queue(self, name: str) -> None:
        """Wait for others who work under this name, until this transaction ends."""
        ...

    def now(self) -> float:
        """Unix seconds by the clock that all who share the database go by."""
        ...

    def renumber(self) -> None:
        """Go on numbering after the highest number there is."""
        ...

    def begin(self) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """Knows one database: how to open it, and what its errors mean."""

    @property
    def where(self) -> str:
        """The database as a person may read it, without a password."""
        ...

    errors: ClassVar[tuple[type[Exception], ...]]
    """What its sessions raise."""

    def open(self) -> Session:
        """A session to an up-to-date database. Raises one of `errors` or `StoreError`."""
        ...

    has_clock: ClassVar[bool]
    """Whether the database has a clock of its own, which may differ from this machine's."""

    async def watch(self, tell: Callable[[int], None], channel: str) -> None:
        ...

    def explain(self, error: Exception) -> StoreError:
        """The same in a person's words."""
        ...

    def is_lost(self, error: Exception) -> bool:
        """Whether the connection is gone."""
        ...

    def is_clash(self, error: Exception) -> bool:
        """Whether the same may go well when it is done again."""
        ...
