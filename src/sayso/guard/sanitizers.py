"""Sanitizers for tools that run without a guard: safe errors, short lists, stripped results."""

import functools
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from sayso.guard.call import Answer, tool_error
from sayso.guard.completeness import CompletenessError
from sayso.guard.schemas import cut_value, schemas_of
from sayso.incidents import describe_incident, report_incident
from sayso.schema import LIMIT, Checker, Cut, Stripper

_log: Final = logging.getLogger(__name__)


def safe_errors(
    function: Callable[..., Any], *, on_error: str = "The tool failed"
) -> Callable[..., Any]:
    """Return `function` with every exception turned into a tool error that a model may read.

    The error states `on_error` and an incident number. The exception is logged under that number,
    and the model does not get its text. A coroutine function stays a coroutine function, and
    cancellation passes through.

    >>> def fetch(user_id):
    ...     raise RuntimeError("password=hunter2 refused")
    >>> result = safe_errors(fetch, on_error="The user could not be fetched")("u1")
    >>> result["isError"], "hunter2" in str(result)
    (True, False)
    """
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def safe(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - the edge of a tool: a model reads the answer
                return _failed(error, on_error)

        return safe

    @functools.wraps(function)
    def safe_now(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - as above
            return _failed(error, on_error)

    return safe_now


def _failed(error: Exception, on_error: str) -> Answer:
    return tool_error(describe_incident(report_incident(_log, error), on_error))


def cut_lists(value: Any, *, limit: int = LIMIT, schema: Mapping[str, Any] | None = None) -> Cut:
    """Cut the lists and texts of `value`, so that its JSON has at most `limit` characters.

    The result's `value` fits `schema`. Fields that state whether it is complete (`truncated`,
    `has_more`, a cursor) are corrected if the schema allows that. If the schema forces a cut value
    to state that it is complete, the value is not cut. `pieces` are the cut parts, each with its
    `total` size and its `kept` size. `fits` is false if the value is still too long. `notice`
    states what was left out; give it to the model too. Raises `UsageError` for an invalid schema.

    >>> cut = cut_lists({"rows": list(range(1_000)), "truncated": False}, limit=100)
    >>> cut.value["truncated"], cut.kept < cut.total == 1_000
    (True, True)
    """
    if schema is not None:
        Checker(schema)
    try:
        return cut_value(value, schemas_of(schema), limit)
    except CompletenessError:
        return Cut(value, fits=False)


def strip_to_schema(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return `value` without the fields that `schema` does not define.

    Raises `UsageError` for an invalid schema.

    >>> strip_to_schema({"id": 1, "password": "x"}, {"properties": {"id": {}}})
    {'id': 1}
    """
    Checker(schema)
    return Stripper(schema).strip(value)
