"""Plans: the changes that a call would make, computed before the question and before the call."""

import copy
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast, runtime_checkable

import anyio

from sayso.errors import UsageError
from sayso.schema import digest, redact

_MOST_SHOWN: Final = 200
_PLAN_SECONDS: Final = 10.0


@runtime_checkable
class _Model(Protocol):
    """A pydantic model, recognized without importing pydantic."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that a call would make, in the author's order.

    A change is a text, or an object such as `{"action": "delete", "target": "customer 12"}`. Its
    `before` and `after` are shown side by side. `facts` are other values for the placeholders of
    the author's sentence. `digest` covers changes and facts.
    """

    changes: tuple[Any, ...]
    digest: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the first 200 changes, redacted, and the `total` number of changes."""
        return {"changes": redact(self.changes[:_MOST_SHOWN]), "total": len(self.changes)}


def make_plan(value: Any) -> Plan:
    """Make a plan from an author's value: a list, or an object with `changes`.

    Dataclasses and pydantic models count as objects. Raises `UsageError` for any other value.
    """
    plain = _plain(value)
    facts: dict[str, Any] = {}
    if isinstance(plain, Mapping) and "changes" in plain:
        facts = dict(cast("Mapping[str, Any]", plain))
        plain = facts.pop("changes")
    if not isinstance(plain, list):
        raise UsageError("a plan is a list of changes, or an object with a list under “changes”")
    changes = cast("list[Any]", plain)
    covered = [changes, facts] if facts else changes
    return Plan(tuple(changes), digest(covered), facts)


async def take_plan(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Plan:
    """Call an author's plan function with a copy of the arguments.

    Raises `UsageError` for an invalid plan, `TimeoutError` after 10 s, and the function's errors.
    """
    with anyio.fail_after(_PLAN_SECONDS):
        value = function(copy.deepcopy(dict(arguments)))
        if inspect.isawaitable(value):
            value = await value
        return make_plan(value)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, _Model):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return value
