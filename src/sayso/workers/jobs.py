"""The jobs of this package that a worker process does."""

import marshal
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, cast

from sayso.errors import UsageError
from sayso.schema import Checker, RepeatedKeyError, locate, parse_json
from sayso.workers.child import allow_seconds, encoded

EXPLAIN_SECONDS: Final = 0.5
"""How long listing the problems of an invalid value may take."""

MAX_VALUES: Final = 1_000_000
"""Keys and values of one message: reading so many blocks other threads for a tenth of a second."""

MAX_MEMBERS: Final = 50_000
"""Members of one object: Python builds a larger one several times."""

FITS: Final = b"[]"
NO_SCHEMA: Final = b"null"


def find_problems(schema: bytes, value: Any) -> Iterator[bytes]:
    """Yield JSON lists of a value's problems (paths and messages), each better than the one before.

    `schema` is in the form of `marshal`. For an invalid schema it yields `null`.
    """
    try:
        checker = _checker(schema)
    except UsageError:
        yield NO_SCHEMA
        return
    if checker.is_valid(value):
        yield FITS
        return
    yield encoded([["", "the value does not match the tool's schema"]])
    allow_seconds(EXPLAIN_SECONDS)
    first = locate(marshal.loads(schema), value)  # noqa: S302 - as for each request to a worker
    yield encoded([[first.path, first.message]])
    problems = checker.problems(value)
    if first.path not in {problem.path for problem in problems}:
        problems = (*problems, first)
    yield encoded([[problem.path, problem.message] for problem in problems])


def find_fault(body: bytes) -> Iterator[bytes]:
    """Yield an error if JSON repeats a key or is too large; otherwise yield nothing."""
    try:
        value = parse_json(body.decode(errors="replace"))
        if (fault := find_excess(value)) is not None:
            yield fault.encode()
    except RepeatedKeyError as error:
        yield error.what.encode(errors="replace")
    except UsageError:
        # The reader of the message reports any other error.
        return


def find_excess(value: Any) -> str | None:
    """Return why a JSON value is too large for the event loop to read it at once, or `None`."""
    total = 0
    level = [value]
    while level:
        total += len(level)
        following: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                members = cast("dict[str, Any]", part)
                if len(members) > MAX_MEMBERS:
                    return f"an object has more than {MAX_MEMBERS:,} members"
                total += len(members)
                following += members.values()
            elif isinstance(part, list):
                following += cast("list[Any]", part)
        if total > MAX_VALUES:
            return f"the message has more than {MAX_VALUES:,} keys and values"
        level = following
    return None


@lru_cache(128)
def _checker(schema: bytes) -> Checker:
    return Checker(marshal.loads(schema))  # noqa: S302 - as for each request to a worker
