"""The classes of a tool's input, one parameter after the other, and which a case reaches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.verify.inputs.flattener import items_of, table_of
from sayso.verify.inputs.options import Option, Sources
from sayso.verify.inputs.roles import IN_WORLD, Meaning

ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter with its options, the likeliest first."""

    name: str
    meaning: Meaning
    options: tuple[Option, ...]
    is_required: bool = False

    @property
    def is_in_world(self) -> bool:
        """Whether its values mean something only where they are."""
        return self.meaning.role in IN_WORLD

    def classes(self) -> Iterator[tuple[str, tuple[Option, ...]]]:
        """Each class with the options that reach it; for `absent` there are none."""
        for label in dict.fromkeys(option.label for option in self.options):
            yield (
                self._class(label),
                tuple(option for option in self.options if option.label == label),
            )
        if not self.is_required:
            yield self._class(ABSENT), ()

    def reached(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """The classes that arguments reach, by the values that are known to."""
        if self.name not in arguments:
            yield self._class(ABSENT)
            return
        value = arguments[self.name]
        found = [
            option
            for option in self.options
            if type(option.value) is type(value) and option.value == value
        ]
        yield from (self._class(option.label) for option in found)

    def _class(self, label: str) -> str:
        return f"{self.name}={label}"


def parameters_of(sources: Sources, schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a tool, those it needs first."""
    whole = sources.flattener.flat(schema) or {}
    properties = table_of(whole.get("properties"))
    required = [str(required_name) for required_name in items_of(whole.get("required"))]
    names = [*required, *(name for name in properties if name not in required)]
    return tuple(
        Parameter(
            name,
            sources.meaning(name, properties.get(name, True)),
            tuple(sources.options(name, properties.get(name, True))),
            is_required=name in required,
        )
        for name in names
        if properties.get(name, True) is not False
    )


def classes_of(parameters: tuple[Parameter, ...], arguments: Mapping[str, Any]) -> frozenset[str]:
    """All classes that arguments reach."""
    return frozenset(label for parameter in parameters for label in parameter.reached(arguments))
