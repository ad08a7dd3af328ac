"""Plans: what a call would change, taken before a person is asked and again before it runs."""

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
    """What a pydantic model can do; pydantic itself is not needed to know one."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that one call would make, in the order in which its author gives them.

    A change is a text, or an object such as `{"action": "delete", "target": "customer 12"}`;
    `before` and `after` are shown beside each other. `facts` are what else it says, for the
    sentence that a person is asked. `digest` covers all of it.
    """

    changes: tuple[Any, ...]
    digest: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return what a person is shown: the first 200 changes of `total`, redacted."""
        return {"changes": redact(self.changes[:_MOST_SHOWN]), "total": len(self.changes)}


def make_plan(value: Any) -> Plan:
    """Make a plan of what an author's function gave: a list, or an object with `changes`.

    Dataclasses and pydantic models are taken as the objects that they are in JSON. Raises
    `UsageError` for anything else: what cannot be read cannot be shown.
    """
    plain = _plain(value)
    facts: dict[str, Any] = {}
    if isinstance(plain, Mapping) and "changes" in plain:
        facts = dict(cast("Mapping[str, Any]", plain))
        plain = facts.pop("changes")
    if not isinstance(plain, list):
        raise UsageError("a plan is a list of changes, or an object that holds one under “changes”")
    changes = cast("list[Any]", plain)
    covered = [changes, facts] if facts else changes
    return Plan(tuple(changes), digest(covered), facts)


async def take_plan(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Plan:
    """Ask an author's function for its plan, on a copy of the arguments.

    Raises `UsageError`, `TimeoutError` after 10 s, and whatever the function raises.
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
