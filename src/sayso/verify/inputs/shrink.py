"""The search for the smallest arguments that still refute a hint: fewer, then simpler ones."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from sayso.verify.call import Case
from sayso.verify.inputs.flattener import is_list, is_table

Trial = Callable[[Case], Awaitable[bool]]

MOST: Final = 20


async def shrink(
    case: Case,
    is_refuting: Trial,
    *,
    is_valid: Callable[[Mapping[str, Any]], bool],
    most: int = MOST,
) -> Case:
    """Return the smallest case found in at most `most` trials. Each trial calls the tool.

    Only arguments that `is_valid` accepts are tried. Raises the errors of `is_refuting`.
    Cancelling needs no cleanup.
    """
    best = case
    remaining = most
    seen = [dict(case.arguments)]
    is_smaller = True
    while is_smaller and remaining > 0:
        is_smaller = False
        for arguments in smaller(best.arguments):
            if remaining <= 0:
                break
            if arguments in seen or not is_valid(arguments):
                continue
            seen.append(arguments)
            remaining -= 1
            trial = replace(best, arguments=arguments)
            if await is_refuting(trial):
                best = trial
                is_smaller = True
                break
    return best


def smaller(arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield arguments one step smaller: one argument less, then one simpler value.

    >>> list(smaller({"a": 3}))
    [{}, {'a': 0}, {'a': 1}]
    """
    whole = dict(arguments)
    if len(whole) > 1:
        yield {}
    for name in reversed(whole):
        yield {key: value for key, value in whole.items() if key != name}
    for name, value in whole.items():
        for plainer in _plainer(value):
            yield {**whole, name: plainer}


def _plainer(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, int | float):
        yield from (number for number in (0, 1, int(value)) if _is_less(number, value))
    elif isinstance(value, str):
        halves = ("", value[:1], value[: len(value) // 2])
        yield from (half for half in dict.fromkeys(halves) if len(half) < len(value))
    elif is_list(value):
        yield from _shorter(value)
    elif is_table(value):
        yield from smaller(value)


def _is_less(number: float, other: float) -> bool:
    return abs(number) < abs(other) or (
        abs(number) == abs(other) and type(number) is not type(other)
    )


def _shorter(items: list[Any]) -> Iterator[list[Any]]:
    if items:
        yield []
    if len(items) > 1:
        yield items[:1]
        yield items[: len(items) // 2]
    for index, item in enumerate(items):
        for plainer in _plainer(item):
            yield [*items[:index], plainer, *items[index + 1 :]]
