"""The four hints, their defaults, their looser values, and the level."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, get_args

from sayso.errors import UsageError

HintName = Literal["read_only", "destructive", "idempotent", "open_world"]

HINT_NAMES: Final[tuple[HintName, ...]] = get_args(HintName)

DEFAULTS: Final[Mapping[HintName, bool]] = {
    "read_only": False,
    "destructive": True,
    "idempotent": False,
    "open_world": True,
}
"""The defaults of the specification (MCP 2025-03-26 and later, ToolAnnotations)."""

LOOSER: Final[Mapping[HintName, bool]] = {name: not value for name, value in DEFAULTS.items()}
"""The value of each hint that permits more. The specification's default is always the stricter."""

WIRE_NAMES: Final[Mapping[HintName, str]] = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}

STORE_HINTS: Final[tuple[HintName, ...]] = ("read_only", "destructive", "open_world")
"""Hints that the strictest store (openai) requires on every tool, including reads."""

_READ_HINTS: Final[tuple[HintName, ...]] = ("read_only", "open_world")


def required_hints(*, is_read: bool, more: Collection[HintName] = ()) -> tuple[HintName, ...]:
    """Return the hints that a tool must declare, in the order of the specification.

    For a read these are `read_only` and `open_world`, since the other two have no meaning there.
    `more` are hints that a store requires even of a read.

    >>> required_hints(is_read=True)
    ('read_only', 'open_world')
    """
    return tuple(name for name in HINT_NAMES if not is_read or name in _READ_HINTS or name in more)


class Level(StrEnum):
    """The most that a call may do: change nothing, change something, or lose data."""

    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True)
class Hints:
    """Four hints, each `True`, `False` or `None` for unset.

    >>> Hints(read_only=True).is_complete
    False
    >>> Hints(read_only=True).with_defaults()
    Hints(read_only=True, destructive=False, idempotent=True, open_world=True)
    """

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def __post_init__(self) -> None:
        for name in HINT_NAMES:
            value = getattr(self, name)
            if value is not None and value is not True and value is not False:
                what = f"{name} must be True, False or None, got {value!r}"
                raise UsageError(what, where="Hints")

    def __getitem__(self, name: HintName) -> bool | None:
        """Return the value of a hint by name."""
        value: bool | None = getattr(self, name)
        return value

    @property
    def is_complete(self) -> bool:
        return all(self[name] is not None for name in HINT_NAMES)

    def updated(self, hints: "Hints") -> "Hints":
        """Return a copy in which each hint that is set in `hints` has that value."""
        values = {name: hints[name] for name in HINT_NAMES if hints[name] is not None}
        return replace(self, **values)

    def with_defaults(self) -> "Hints":
        """Return a copy with the specification's defaults for unset hints.

        On a read-only tool, unset hints become `destructive=False` and `idempotent=True`, because
        the specification's defaults would contradict it.
        """
        if not self.read_only:
            return Hints(**{name: default_for(name, self[name]) for name in HINT_NAMES})
        return Hints(
            read_only=True,
            destructive=bool(self.destructive),
            idempotent=self.idempotent is not False,
            open_world=default_for("open_world", self.open_world),
        )


def default_for(name: HintName, value: bool | None) -> bool:  # noqa: FBT001 - a hint's value is what it is about
    """Return `value`, or the specification's default if it is unset."""
    return DEFAULTS[name] if value is None else value


def level_of(*, read_only: bool, destructive: bool) -> Level:
    """Return the level for these hints; `destructive` is ignored for a read-only tool."""
    if read_only is True:
        return Level.READ
    return Level.WRITE if destructive is False else Level.DESTRUCTIVE
