"""The places of records in a writer's chain, which the floor above gives."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from sayso.store.rows import Head, RecordRow


class LogView(Protocol):
    """The log as a transaction sees it, for the first record of a chain."""

    def ends(self) -> list[tuple[int, Head]]:
        """Return the last record of each chain, with its number."""
        ...

    def about_itself(self, events: Sequence[str]) -> Iterator[RecordRow]:
        """Iterate over the records of no call that have one of these events, newest first."""
        ...

    def rows(self) -> Iterator[RecordRow]:
        """Iterate over all records, oldest first."""
        ...


class Seal(Protocol):
    """Gives records their places in one writer's chain, in the order in which they are written.

    Called from the store's own thread, by one job at a time.
    """

    @property
    def writer(self) -> str: ...

    @property
    def is_in_doubt(self) -> bool:
        """Return whether the last records may or may not have been written."""
        ...

    @property
    def is_new(self) -> bool:
        """Return whether the chain still needs its first record."""
        ...

    def first(self, log: LogView) -> list[RecordRow]:
        """Return what is sealed and written in front of the first record of the chain."""
        ...

    def recall(self, head: Head | None) -> None:
        """Take over the end of the chain from the store.

        Raises `StoreError` when that is neither where it stood nor where it would stand now.
        """
        ...

    def seal(self, records: Sequence[RecordRow]) -> list[RecordRow]:
        """Return the records with their places, which count once they are settled as written."""
        ...

    def settle(self, *, is_written: bool | None) -> None:
        """Settle the records sealed since the last call; `None` when it is unknown."""
        ...
