"""Fast writing and reading of compact JSON."""

import contextlib
import json
from typing import Any

import msgspec

from sayso.schema.canonical_json import parse_json


def write_json(value: Any) -> str:
    """Return `value` as compact JSON, without ASCII escapes.

    Raises `TypeError` for objects of other types. NaN and infinities become `null`.

    >>> write_json({"größe": [1, 2.5, None]})
    '{"größe":[1,2.5,null]}'
    """
    try:
        return msgspec.json.encode(value).decode()
    except ValueError:  # a lone surrogate
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_strictly(raw: bytes | msgspec.Raw) -> Any:
    """Parse JSON like `parse_json`: a duplicate key is an error. Raises `UsageError`.

    Compact JSON, which most programs write, takes a fast path: if writing the value again gives
    the same bytes, no key is duplicated.

    >>> read_strictly(b'{"a":1}')
    {'a': 1}
    """
    with contextlib.suppress(OverflowError, RecursionError, ValueError):
        value = msgspec.json.decode(raw)
        if msgspec.json.encode(value) == bytes(raw):
            return value
    return parse_json(bytes(raw).decode(errors="replace"))


def read_json(text: str) -> Any:
    """Parse JSON, including `NaN` and infinities. Raises `ValueError`.

    >>> read_json("[1, NaN]")
    [1, nan]
    """
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
