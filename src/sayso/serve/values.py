"""Conversion of Python values (models, dataclasses, sets, dates) to JSON."""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any, Final, Protocol, cast, runtime_checkable

from sayso.errors import UsageError

_DEEPEST: Final = 64


class ShapeError(UsageError):
    """A tool's return value that is not JSON, or too large."""


@runtime_checkable
class _Model(Protocol):
    """The method of pydantic models."""

    def model_dump(self, *, mode: str, by_alias: bool) -> dict[str, Any]: ...


def to_json(value: Any, depth: int = 0) -> Any:
    """Return a value, such as a pydantic model, dataclass or set, as JSON. Raises `ShapeError`."""
    if depth > _DEEPEST:
        raise ShapeError(f"the tool returned a value with more than {_DEEPEST} levels")
    if isinstance(value, _Model):
        return to_json(value.model_dump(mode="json", by_alias=True), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [member.name for member in dataclasses.fields(value)]
        return {name: to_json(getattr(value, name), depth + 1) for name in names}
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return {_key(key): to_json(item, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item, depth + 1) for item in cast("list[Any]", value)]
    if isinstance(value, enum.Enum):
        return to_json(value.value, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise ShapeError(f"the tool returned {value}, which is not JSON")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dt.date | dt.time | uuid.UUID | decimal.Decimal):
        return value.isoformat() if isinstance(value, dt.date | dt.time) else str(value)
    raise ShapeError(f"the tool returned a {type(value).__name__}, which is not JSON")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise ShapeError(f"the tool returned an object with the key {json.dumps(key, default=repr)}")
