"""The input classes of a tool's parameters, and the classes that a call's arguments cover."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.verify.inputs.flattener import items_of, table_of
from sayso.verify.inputs.option_values import Option
from sayso.verify.inputs.options import Sources
from sayso.verify.inputs.roles import IN_WORLD, Meaning

ABSENT: Final = "absent"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter with its options (candidate values), the likeliest first."""

    name: str
    meaning: Meaning
    options: tuple[Option, ...]
    is_required: bool = False

    @property
    def is_in_world(self) -> bool:
        """Return whether a value is useful only if it exists, such as the path of a file."""
        return self.meaning.role in IN_WORLD

    def classes(self) -> Iterator[tuple[str, tuple[Option, ...]]]:
        """Yield each class with its options; the class `absent` has no options."""
        by_label: dict[str, tuple[Option, ...]] = {}
        for option in self.options:
            by_label[option.label] = (*by_label.get(option.label, ()), option)
        if not self.is_required:
            by_label[ABSENT] = ()
        for label, options in by_label.items():
            yield f"{self.name}={label}", options

    def reached(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield the classes that arguments cover; a value that is no option covers no class."""
        if self.name not in arguments:
            yield f"{self.name}={ABSENT}"
            return
        value = arguments[self.name]
        for option in self.options:
            if type(option.value) is type(value) and option.value == value:
                yield f"{self.name}={option.label}"


def parameters_of(sources: Sources, schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a tool, required ones first."""
    whole = sources.flattener.flat(schema) or {}
    properties = table_of(whole.get("properties"))
    required = [str(name) for name in items_of(whole.get("required"))]
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
    """Return all classes that arguments cover."""
    return frozenset(label for parameter in parameters for label in parameter.reached(arguments))
