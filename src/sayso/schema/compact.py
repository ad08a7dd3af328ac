"""JSON as text, written and read in compiled code."""

import contextlib
import json
from typing import Any

import msgspec

from sayso.schema.canonical_json import parse_json


def write_json(value: Any) -> str:
    """`value` without a blank between its parts, and in its own letters.

    What JSON cannot say is written as Python's own module has it. Raises `TypeError`.

    >>> write_json({"größe": [1, 2.5, None]})
    '{"größe":[1,2.5,null]}'
    """
    try:
        return msgspec.json.encode(value).decode()
    except ValueError:  # half a surrogate pair
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_strictly(raw: bytes | msgspec.Raw) -> Any:
    """Read JSON as `parse_json` does: a key given twice is an error. Raises `UsageError`.

    What is written exactly as sayso would write its value repeats no key. Most programs write JSON
    in that form, and it is read in compiled code.

    >>> read_strictly(b'{"a":1}')
    {'a': 1}
    """
    with contextlib.suppress(OverflowError, RecursionError, ValueError):
        value = msgspec.json.decode(raw)
        if msgspec.json.encode(value) == bytes(raw):
            return value
    return parse_json(bytes(raw).decode(errors="replace"))


def read_json(text: str) -> Any:
    """What `text` holds; also what strict JSON does not know (`NaN`). Raises `ValueError`.

    >>> read_json("[1, NaN]")
    [1, nan]
    """
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
