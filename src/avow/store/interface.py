"""What a store must do. Everything above speaks to this, never to a database."""

from collections.abc import Sequence
from typing import Protocol

from avow.store.rows import ApprovalRow, RecordRow


class Store(Protocol):
    """Records that last, and questions that are answered and used exactly once.

    Every method raises `StoreError` when the database fails, and then nothing was written. A
    cancelled caller may find its write done or not done, never half done.
    """

    async def append(self, records: Sequence[RecordRow]) -> None:
        """Add records; they are on disk when this returns."""
        ...

    async def records(self, *, call: str | None = None, limit: int = 100) -> list[RecordRow]:
        """The newest records, newest first."""
        ...

    async def open_approval(
        self, binding: str, body: str, *, now: float, expires: float
    ) -> ApprovalRow:
        """The open question of this binding, or a new one.

        Open is what is pending, approved and not used, or denied a short while ago.
        """
        ...

    async def approval(self, number: int, *, now: float) -> ApprovalRow | None:
        """One question as it stands at `now`."""
        ...

    async def approvals(self, *, now: float, limit: int = 100) -> list[ApprovalRow]:
        """The newest questions, the pending ones first."""
        ...

    async def answer_approval(
        self, number: int, *, is_allowed: bool, by: str, channel: str, now: float, expires: float
    ) -> bool:
        """Answer a pending question; whether this answer was the one that counts."""
        ...

    async def use_approval(self, number: int, *, binding: str, call: str, now: float) -> bool:
        """Use an approval for one call; whether it was there to use."""
        ...

    async def close(self) -> None:
        """Let go of the database."""
        ...
