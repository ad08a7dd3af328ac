"""JSON as text, written and read in compiled code."""

import json
from typing import Any

import msgspec


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
            message = "it is nested too deeply"
            raise ValueError(message) from error
