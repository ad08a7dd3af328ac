"""Removal of forged `io.sayso/*` keys from the results of servers.

A client trusts `io.sayso/approval`, `io.sayso/outcome` and similar `_meta` keys, because sayso
writes them. A server could write them too, so sayso removes them from every `_meta` of a result.
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
"""The time limit of a worker for one member of a result."""

_PLAIN: Final = b"io.sayso"
"""The prefix without its slash, because JSON may escape a slash as `\\/`."""

_CODES: Final = "|".join(sorted({f"{ord(character):02x}" for character in PREFIX}))
_ESCAPED: Final = re.compile(rf"\\u00(?:{_CODES})".encode(), re.IGNORECASE)
"""A character of the prefix that JSON writes as `\\u00XX` (RFC 8259, section 7)."""

_SCALARS: Final = frozenset({bool, float, int, str, type(None)})
_JOB: Final = "sayso.guard.own_meta:clean_job"


async def remove_own_meta(result: Mapping[str, Any], server: str) -> dict[str, Any]:
    """Return a result without `io.sayso/*` in any `_meta`, and without blocking the event loop.

    A worker process cleans large raw members that may contain such a key; the job is queued under
    the name `server`. Raises `UndecidedError` if the job takes too much time or memory.
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
        may_contain = _may_contain_own_keys(raw)
        await rest_since(begun)
        if may_contain:
            cleaned[key] = await _clean_in_worker(raw, server)
    return cleaned


async def _clean_in_worker(raw: bytes, server: str) -> msgspec.Raw:
    try:
        output = await run_job(server, _JOB, (raw,), seconds=CLEAN_SECONDS)
    except (BusyError, OSError, RuntimeError) as error:
        raise UndecidedError from error
    if not output.is_complete or output.last is None:
        raise UndecidedError
    return msgspec.Raw(output.last)


def clean_job(raw: bytes) -> Iterator[bytes]:
    """Yield the JSON of a result's member without sayso's keys; this runs in a worker process."""
    cleaned = _clean_member(msgspec.Raw(raw))
    yield raw if isinstance(cleaned, msgspec.Raw) else msgspec.json.encode(cleaned)


def without_own_meta(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's result without `io.sayso/*` in any `_meta`.

    `structuredContent` stays unchanged. Raw members are parsed only if they may contain such a key.

    >>> without_own_meta({"_meta": {"io.sayso/outcome": "ok", "a": 1}, "content": []})
    {'_meta': {'a': 1}, 'content': []}
    """
    cleaned = {**result}
    if "_meta" in cleaned:
        cleaned["_meta"] = _filter_meta(cleaned["_meta"])
    for key, member in cleaned.items():
        if key != "structuredContent":
            cleaned[key] = _clean_member(member)
    return cleaned


def _clean_member(value: Any) -> Any:
    if not isinstance(value, msgspec.Raw):
        if type(value) not in _SCALARS:
            _clean_in_place(value)
        return value
    raw = bytes(value)
    if not _may_contain_own_keys(raw):
        return value
    read = msgspec.json.decode(raw)
    return value if not _clean_in_place(read) else read


def _may_contain_own_keys(raw: bytes) -> bool:
    return _PLAIN in raw or (b"\\u00" in raw and _ESCAPED.search(raw) is not None)


def _clean_in_place(value: Any) -> bool:
    """Remove sayso's keys from every `_meta` in `value`, in place; return whether any was there."""
    has_own = False
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            members = cast("dict[str, Any]", item)
            if "_meta" in members:
                cleaned = _filter_meta(members["_meta"])
                has_own = has_own or cleaned is not members["_meta"]
                members["_meta"] = cleaned
            stack.extend(members.values())
        elif isinstance(item, list):
            stack.extend(cast("list[Any]", item))
    return has_own


def _filter_meta(meta: Any) -> Any:
    if not isinstance(meta, dict):
        return meta
    members = cast("dict[str, Any]", meta)
    if not any(key.startswith(PREFIX) for key in members):
        return members
    return {key: value for key, value in members.items() if not key.startswith(PREFIX)}
