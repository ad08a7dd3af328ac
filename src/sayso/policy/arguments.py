"""Conditions on arguments: each has a path and a requirement on the values at the path."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from sayso.policy.conditions import Condition, Test, in_words, make_glob, many
from sayso.policy.situation import Situation

Check = Callable[[object], bool | None]
Values = Callable[[Situation], list[object]]

_ANY: Final = "*"
_SHOWN: Final = 60


def argument_conditions(table: Mapping[str, Any], *, is_loosening: bool) -> list[Condition]:
    """Return the conditions under `arguments`, one per path.

    A path is keys and indices joined by dots; `*` matches every item of an array or every value
    of an object. If a path has several values, a loosening rule needs all of them to match. For a
    tightening rule, one is enough.
    """
    return [
        _condition(
            f"arguments.{path}",
            partial(_in_arguments, tuple(path.split("."))),
            requirement,
            is_loosening=is_loosening,
        )
        for path, requirement in table.items()
    ]


def meta_conditions(table: Mapping[str, Any], *, is_loosening: bool) -> list[Condition]:
    """Return the conditions under `meta`, one per key of `_meta`. Keys are not split at dots."""
    return [
        _condition(f"meta.{key}", partial(_in_meta, key), requirement, is_loosening=is_loosening)
        for key, requirement in table.items()
    ]


def _in_arguments(steps: tuple[str, ...], situation: Situation) -> list[object]:
    return find_values(situation.arguments, steps)


def _in_meta(key: str, situation: Situation) -> list[object]:
    return [situation.meta[key]] if key in situation.meta else []


def find_values(arguments: object, steps: tuple[str, ...]) -> list[object]:
    """Return the values at a path, or an empty list if the path does not exist.

    >>> find_values({"to": [{"mail": "a@x"}, {"mail": "b@y"}]}, ("to", "*", "mail"))
    ['a@x', 'b@y']
    """
    values: list[object] = [arguments]
    for step in steps:
        values = [inner for value in values for inner in _inner(value, step)]
    return values


def _inner(value: object, step: str) -> Iterator[object]:
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        if step == _ANY:
            yield from table.values()
        elif step in table:
            yield table[step]
    elif isinstance(value, list | tuple):
        items = cast("list[object]", value)
        if step == _ANY:
            yield from items
        elif step.isdecimal() and step.isascii() and len(step) < 10 and int(step) < len(items):  # noqa: PLR2004 - no array is longer
            yield items[int(step)]


def _condition(
    key: str, values_of: Values, requirements: Mapping[str, Any], *, is_loosening: bool
) -> Condition:
    checks = [_CHECKS[key](value) for key, value in requirements.items() if key != "exists"]
    exists: bool | None = requirements.get("exists")
    words = " and ".join(_WORDS[key](value) for key, value in requirements.items())
    fits = _all_of(checks)

    def actual(situation: Situation) -> str:
        return in_words(map(_short, values_of(situation)), if_none="not there")

    test = _test(values_of, exists, fits, is_loosening)
    return Condition(key, words, test, actual, is_of_call=True)


def _test(values_of: Values, exists: bool | None, fits: Check | None, is_loosening: bool) -> Test:  # noqa: FBT001 - read from the policy
    def test(situation: Situation) -> bool | None:
        values = values_of(situation)
        if exists is not None and bool(values) is not exists:
            return False
        if fits is None or not values:
            return exists is not None
        if len(values) == 1:
            return fits(values[0])
        decisive = not is_loosening
        answers = [fits(value) for value in values]
        if decisive in answers:
            return decisive
        return None if None in answers else is_loosening

    return test


def _all_of(checks: list[Check]) -> Check | None:
    if len(checks) <= 1:
        return next(iter(checks), None)
    return lambda value: _all([check(value) for check in checks])


def _all(answers: Collection[bool | None]) -> bool | None:
    if False in answers:
        return False
    return None if None in answers else True


def _equals(expected: object) -> Check:
    return lambda value: is_same(value, expected)


def _glob(patterns: object) -> Check:
    fits = make_glob(many(patterns))
    return lambda value: fits(value) if isinstance(value, str) else None


def _range(bounds: Mapping[str, float]) -> Check:
    lower = bounds.get("min", -math.inf)
    upper = bounds.get("max", math.inf)

    def fits(value: object) -> bool | None:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN alone is not itself
            return None
        return lower <= value <= upper

    return fits


def is_same(value: Any, wanted: Any) -> bool | None:
    """Return whether two JSON values are equal, or `None` if that depends on the server.

    A server may treat `"7"`, `7.0` and `7` as equal or not. `7` and `8.0` are always different.
    """
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        actual = cast("Mapping[str, object]", value)
        expected = cast("Mapping[str, object]", wanted)
        if actual.keys() != expected.keys():
            return False
        return _all([is_same(actual[key], expected[key]) for key in expected])
    if isinstance(value, list | tuple) and isinstance(wanted, list | tuple):
        items = cast("Sequence[object]", value)
        others = cast("Sequence[object]", wanted)
        return len(items) == len(others) and _all(list(map(is_same, items, others)))
    if isinstance(value, Mapping | list | tuple) or isinstance(wanted, Mapping | list | tuple):
        return False
    if type(value) is type(wanted):  # pyright: ignore[reportUnknownArgumentType] - any JSON value
        return bool(value == wanted)
    if _is_number(value) and _is_number(wanted) and value != wanted:
        return False
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _range_words(bounds: Mapping[str, float]) -> str:
    words = {"min": "at least", "max": "at most"}
    return " and ".join(f"{words[key]} {bounds[key]}" for key in bounds)


def _short(value: object) -> str:
    if isinstance(value, Mapping | list):
        return "a table or an array"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


_CHECKS: Final[Mapping[str, Callable[[Any], Check]]] = {
    "equals": _equals,
    "glob": _glob,
    "range": _range,
}
_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "equals": repr,
    "glob": lambda value: in_words(many(value)),
    "range": _range_words,
    "exists": {True: "there", False: "absent"}.__getitem__,
}
