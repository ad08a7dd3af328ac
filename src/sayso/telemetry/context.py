"""The current request and the current call."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sayso.guard import Call


@dataclass(slots=True)
class Asked:
    """A client's request, with its `_meta`, its prompt and the error code of its response."""

    method: str
    id: int | str | None
    version: str
    session: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prompt: str | None = None
    code: int | None = None


CALL: Final["ContextVar[Call | None]"] = ContextVar("sayso_call", default=None)
