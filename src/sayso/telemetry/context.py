"""The call that is under way where a line of the log is written."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final, Protocol


class UnderWay(Protocol):
    """A call, as far as its lines in the log name it."""

    @property
    def id(self) -> str:
        """The id under which the audit log has it."""
        ...

    @property
    def meta(self) -> Mapping[str, Any] | None:
        """What came with it; a trace among that."""
        ...


CALL: Final[ContextVar[UnderWay | None]] = ContextVar("sayso_call", default=None)
