"""Values as TOML, so that a person can copy them and a program reads the same."""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from sayso.schema import is_hidden

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_LARGEST: Final = 2**63
_SIGNS: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


class UntellableError(ValueError):
    """TOML has no way to say this."""


def to_toml(value: Any) -> str:
    """A JSON value; what does not print stands as its number.

    Raises `UntellableError` for null, an integer that is too large, half a character.

    >>> to_toml({"a": [1, True, "x"]})
    '{ a = [1, true, "x"] }'
    """
    if isinstance(value, str):
        return f'"{"".join(map(_sign, value))}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and -_LARGEST <= value < _LARGEST:
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, cast('list[Any]', value)))}]"
    if isinstance(value, Mapping):
        table = cast("Mapping[str, Any]", value)
        inner = ", ".join(f"{to_key(name)} = {to_toml(item)}" for name, item in table.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise UntellableError(repr(value))


def to_key(name: str) -> str:
    """The name of a key."""
    return name if _BARE.fullmatch(name) else to_toml(name)


def _sign(char: str) -> str:
    if char in _SIGNS:
        return _SIGNS[char]
    number = ord(char)
    if 0xD800 <= number <= 0xDFFF:  # noqa: PLR2004 - the halves of pairs (RFC 3629)
        raise UntellableError(repr(char))
    if is_hidden(char):
        return f"\\u{number:04X}" if number <= 0xFFFF else f"\\U{number:08X}"  # noqa: PLR2004 - four digits
    return char
