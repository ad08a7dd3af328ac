"""Bounded checks of values against a schema, whatever the schema and the value."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sayso.errors import UsageError
from sayso.schema import Checker, Problem, schema_cost, weight
from sayso.workers.pool import BusyError, packed, run_job

CHECK_SECONDS: Final = 2.0

MAX_LOCAL_COST: Final = 2_000
"""Schemas that cost more are never compiled in this process."""

_MAX_LOCAL_WEIGHT: Final = 5_000
"""The largest weight of a schema that is compiled in this process."""

_MAX_FIT_WORK: Final = 500_000
"""Schema cost times value weight up to which validity is decided here: some milliseconds."""

_MAX_EXPLAIN_WORK: Final = 10_000
"""Schema cost times value weight up to which problems are listed here, which takes longer."""

_JOB: Final = "sayso.workers.jobs:find_problems"


class UndecidedError(UsageError):
    """A value could not be checked within the limits of time and memory."""

    def __init__(self) -> None:
        super().__init__(
            f"a check against the tool's schema takes longer than {CHECK_SECONDS:g} seconds or too "
            "much memory"
        )


class BoundedChecker:
    """A checker of any value against one schema that does not hold up the event loop.

    Cheap checks are made in this process. All others go to a worker process, which is killed if it
    takes more than 2 seconds or too much memory. Raises `UsageError` for an invalid schema if the
    schema is cheap to compile.
    """

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:  # noqa: FBT001 - a schema may be a boolean
        cost = schema_cost(schema)
        is_small = cost is not None and cost <= MAX_LOCAL_COST
        is_local = is_small and weight(schema, _MAX_LOCAL_WEIGHT) <= _MAX_LOCAL_WEIGHT
        self._schema = schema
        self._cost = cost or 1
        self._local = Checker(schema) if is_local else None
        self._packed: bytes | None = None

    def problems_now(self, value: Any) -> tuple[Problem, ...] | None:
        """Return the problems of `value`, or `None` if listing them is not cheap."""
        fits = self.is_valid_now(value)
        if fits:
            return ()
        limit = _MAX_EXPLAIN_WORK // self._cost
        if fits is None or self._local is None or weight(value, limit) > limit:
            return None
        return self._local.problems(value)

    def is_valid_now(self, value: Any) -> bool | None:
        """Return whether `value` matches the schema, or `None` if checking it is not cheap."""
        limit = _MAX_FIT_WORK // self._cost
        if self._local is None or weight(value, limit) > limit:
            return None
        return self._local.is_valid(value)

    async def problems(self, value: Any, caller: str = "") -> tuple[Problem, ...]:
        """Return the first 20 or so problems of `value`; an empty tuple if it matches the schema.

        The callers share the workers fairly. Raises `UndecidedError` if the check would exceed the
        limits. When cancelled, the work is ended.
        """
        problems = self.problems_now(value)
        if problems is None:
            return await self._remote(value, caller)
        return problems

    async def is_valid(self, value: Any, caller: str = "") -> bool:
        """Return whether `value` matches the schema. Raises what `problems` raises."""
        fits = self.is_valid_now(value)
        if fits is None:
            return not await self._remote(value, caller)
        return fits

    async def _remote(self, value: Any, caller: str) -> tuple[Problem, ...]:
        if self._packed is None:
            self._packed = packed(self._schema)
        try:
            output = await run_job(caller, _JOB, (self._packed, value), seconds=CHECK_SECONDS)
        except (BusyError, OSError, RuntimeError, ValueError) as error:
            raise UndecidedError from error
        if output.last is None:
            raise UndecidedError
        # For an invalid schema the worker yields `null`, and every value counts as valid.
        return tuple(Problem(path, message) for path, message in json.loads(output.last) or ())
