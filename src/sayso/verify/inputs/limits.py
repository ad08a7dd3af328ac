"""What a schema asks for that nobody could make: a server's schema may ask for anything."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sayso.verify.inputs.flat import is_list, is_table

_MOST: Final[Mapping[str, int]] = {
    "minLength": 100_000,
    "minItems": 1_000,
    "minProperties": 1_000,
    "minContains": 1_000,
}
_MOST_NAMES: Final = 1_000
_MOST_NODES: Final = 100_000


def excess_of(schema: object) -> str:
    """Which keyword asks for more than is made, or that there is too much of it; else empty.

    >>> excess_of({"properties": {"a": {"type": "string", "minLength": 2_000_000_000}}})
    'minLength is 2000000000'
    """
    for number, node in enumerate(_nodes(schema)):
        if number > _MOST_NODES:
            return f"it has more than {_MOST_NODES} parts"
        for key, most in _MOST.items():
            least = node.get(key)
            if isinstance(least, int | float) and least > most:
                return f"{key} is {least:.20g}" if isinstance(least, float) else f"{key} is {least}"
        names = node.get("required")
        if is_list(names) and len(names) > _MOST_NAMES:
            return f"{len(names)} properties are required"
    return ""


def _nodes(schema: object) -> Iterator[Mapping[str, Any]]:
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if is_table(node):
            yield node
            waiting += node.values()
        elif is_list(node):
            waiting += [item for item in node if is_table(item) or is_list(item)]
