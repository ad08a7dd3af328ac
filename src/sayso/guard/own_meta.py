"""Removal of sayso's `_meta` keys from servers' results.

A client takes `io.sayso/approval`, `io.sayso/outcome` and the like for sayso's word. So they are
dropped wherever a server puts them into its result.
"""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from sayso.slices import LARGE_BYTES, rest_since
from sayso.workers import BusyError, UndecidedError, run_job

PREFIX: Final = "io.sayso/"
CLEAN_SECONDS: Final = 10.0
"""The time for one member of a result in a worker."""

_PLAIN: Final = b"io.sayso"
"""The prefix without its slash, which JSON may write as `\\/`."""

_CODES: Final = "|".join(sorted({f"{ord(character):02x}" for character in PREFIX}))
_ESCAPED: Final = re.compile(rf"\\u00(?:{_CODES})".encode(), re.IGNORECASE)
"""An escaped character of the prefix (RFC 8259, section 7)."""

_SCALARS: Final = frozenset({bool, float, int, str, type(None)})
_JOB: Final = "sayso.guard.own_meta:clean_job"


async def remove_own_meta(result: Mapping[str, Any], server: str) -> dict[str, Any]:
    """Return a result as `without_own_meta` does, without holding up the event loop.

    A worker reads large members that may hold such a key, for `server`. Raises `UndecidedError` if
    that takes too long or too much memory.
    """
    large = {
        key: member
        for key, member in result.items()
        if isinstance(member, msgspec.Raw) and len(member) > LARGE_BYTES
    }
    if not large:
        return without_own_meta(result)
    cleaned = {**result}
    cleaned |= without_own_meta({key: member for key, member in result.items() if key not in large})
    large.pop("structuredContent", None)
    for key, member in large.items():
        begun = time.perf_counter()
        raw = bytes(member)
        may_hold = _may_hold_own(raw)
        await rest_since(begun)
        if may_hold:
            cleaned[key] = await _cleaned_by_worker(raw, server)
    return cleaned


async def _cleaned_by_worker(raw: bytes, server: str) -> msgspec.Raw:
    try:
        output = await run_job(server, _JOB, (raw,), seconds=CLEAN_SECONDS)
    except (BusyError, OSError, RuntimeError) as error:
        raise UndecidedError from error
    if not output.is_complete or output.last is None:
        raise UndecidedError
    return msgspec.Raw(output.last)


def clean_job(raw: bytes) -> Iterator[bytes]:
    """Yield a member of a result without sayso's keys."""
    cleaned = _cleaned(msgspec.Raw(raw))
    yield raw if isinstance(cleaned, msgspec.Raw) else msgspec.json.encode(cleaned)


def without_own_meta(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's result without `io.sayso/*` in any `_meta`; structured content stays.

    Raw members are read only if they may hold such a key.

    >>> without_own_meta({"_meta": {"io.sayso/outcome": "ok", "a": 1}, "content": []})
    {'_meta': {'a': 1}, 'content': []}
    """
    cleaned = {**result}
    if "_meta" in cleaned:
        cleaned["_meta"] = _without_own(cleaned["_meta"])
    for key, member in cleaned.items():
        if key != "structuredContent":
            cleaned[key] = _cleaned(member)
    return cleaned


def _cleaned(value: Any) -> Any:
    if not isinstance(value, msgspec.Raw):
        if type(value) not in _SCALARS:
            _clean(value)
        return value
    raw = bytes(value)
    if not _may_hold_own(raw):
        return value
    read = msgspec.json.decode(raw)
    return value if not _clean(read) else read


def _may_hold_own(raw: bytes) -> bool:
    return _PLAIN in raw or (b"\\u00" in raw and _ESCAPED.search(raw) is not None)


def _clean(value: Any) -> bool:
    """Drop sayso's keys from every `_meta` below `value`; return whether there were any."""
    has_own = False
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            if "_meta" in members:
                cleaned = _without_own(members["_meta"])
                has_own = has_own or cleaned is not members["_meta"]
                members["_meta"] = cleaned
            stack.extend(members.values())
        elif isinstance(item, list):
            stack.extend(cast("list[Any]", item))
    return has_own


def _without_own(meta: Any) -> Any:
    if not isinstance(meta, dict):
        return meta
    members = cast("dict[str, Any]", meta)
    if not any(key.startswith(PREFIX) for key in members):
        return members
    return {key: value for key, value in members.items() if not key.startswith(PREFIX)}
