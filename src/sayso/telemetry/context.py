"""The request and the call that are under way."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sayso.guard import Call


@dataclass(slots=True)
class Asked:
    """One request of a client. `meta` is its `_meta`, `prompt` the prompt that it names.

    `code` is the code of the error that it ends with, set by the code that answers it.
    """

    method: str
    id: int | str | None
    version: str
    session: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    prompt: str | None = None
    code: int | None = None


CALL: Final["ContextVar[Call | None]"] = ContextVar("sayso_call", default=None)
