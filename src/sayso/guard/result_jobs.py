"""Shaping of results in a worker process, for results too costly for the event loop."""

import marshal
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from sayso.guard.call import Answer
from sayso.guard.passthrough import is_plain, opened
from sayso.guard.schemas import ToolSchemas, schemas_of, shaped
from sayso.schema import Problem, read_json, weight, write_json
from sayso.slices import rest_since
from sayso.workers import BusyError, UndecidedError, encoded, packed, run_job

SHAPE_SECONDS: Final = 10.0
"""The time limit of a worker for one result."""

_MAX_LOCAL_BYTES: Final = 256 * 1024
_MAX_LOCAL_FIT_WORK: Final = 20_000_000
"""The largest product of schema cost and bytes for which the event loop checks a result."""

_MAX_LOCAL_WORK: Final = 20_000
"""The largest product of schema cost and value weight for which the event loop strips a result."""

_JOB: Final = "sayso.guard.result_jobs:shape_job"
_SAME = b"same"
_BROKEN = b"broken"
_CHANGED = b"changed"
_UNREADABLE = b"unreadable"


def is_cheap(answer: Answer, schemas: ToolSchemas) -> bool:
    """Return whether a result can be read and shaped on the event loop.

    The cost of a raw member is its length.
    """
    structured = answer.get("structuredContent")
    if schemas.result_schema is not None and structured is not None:
        size = len(structured) if isinstance(structured, msgspec.Raw) else 0
        if not schemas.is_local or schemas.cost * size > _MAX_LOCAL_FIT_WORK:
            return False
    return _is_small(answer)


def is_cheap_to_strip(answer: Answer, schemas: ToolSchemas) -> bool:
    """Return whether a parsed result can be stripped on the event loop."""
    limit = _MAX_LOCAL_WORK // schemas.cost
    return schemas.result is None or weight(answer.get("structuredContent"), limit) <= limit


def _is_small(answer: Answer) -> bool:
    room = _MAX_LOCAL_BYTES
    for member in answer.values():
        if isinstance(member, msgspec.Raw):
            room -= len(member)
        elif not isinstance(member, str | bool | None):
            # `weight` counts a text as a 32nd of its length; `room` is in bytes.
            room -= 32 * weight(member, room // 32)
        if room < 0:
            return False
    return True


async def reshaped(
    answer: Answer, schemas: ToolSchemas, limit: int, caller: str
) -> tuple[Answer, tuple[Problem, ...]]:
    """Shape a result in a worker; return the shaped answer, or the result's schema problems.

    Raises `UndecidedError` if the worker takes too much time or memory, and `ValueError` for a
    result that is not valid JSON.
    """
    begun = time.perf_counter()
    raw = {key: bytes(part) for key, part in answer.items() if isinstance(part, msgspec.Raw)}
    rest = {key: part for key, part in answer.items() if key not in raw}
    schema = packed(schemas.result_schema)
    try:
        job = (raw, packed(rest), schema, limit)
        await rest_since(begun)
        output = await run_job(caller, _JOB, job, seconds=SHAPE_SECONDS)
    except (BusyError, OSError, RuntimeError) as error:
        raise UndecidedError from error
    if not output.is_complete or output.last is None:
        raise UndecidedError
    word = output.parts[0]
    if word == _SAME:
        return answer, ()
    if word == _UNREADABLE:
        raise ValueError("the result cannot be read")
    if word == _BROKEN:
        problems: list[tuple[str, str]] = msgspec.json.decode(output.last)
        return answer, tuple(Problem(path, message) for path, message in problems)
    if not raw:
        return read_json(output.last.decode()), ()
    # Keep raw members raw, and parse the others, such as `_meta` and `isError`.
    members: Answer = msgspec.json.decode(output.last, type=dict[str, msgspec.Raw])
    for key in members.keys() - raw.keys():
        members[key] = read_json(bytes(members[key]).decode())
    return members, ()


def shape_job(raw: Mapping[str, bytes], rest: bytes, schema: bytes, limit: int) -> Iterator[bytes]:
    """Yield the verdict on a result, then its problems, or the result if it has changed."""
    schemas = _compiled(schema)
    answer: Answer = marshal.loads(rest)  # noqa: S302 - as for each request to a worker
    answer = {**{key: msgspec.Raw(part) for key, part in raw.items()}, **answer}
    try:
        if is_plain(answer, schemas, limit):
            yield _SAME
            return
        read = opened(answer)
        result, problems = shaped(read, schemas, limit)
    except ValueError:
        yield _UNREADABLE
        return
    if problems:
        yield _BROKEN
        yield encoded([[problem.path, problem.message] for problem in problems])
    elif result is read:
        yield _SAME
    else:
        yield _CHANGED
        yield write_json(result).encode()


@lru_cache(64)
def _compiled(schema: bytes) -> ToolSchemas:
    return schemas_of(cast("Mapping[str, Any] | None", marshal.loads(schema)))  # noqa: S302 - as for each request to a worker
