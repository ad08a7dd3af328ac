"""Corrections of rejected arguments, using the text of the error."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from sayso.verify.inputs.classes import Parameter
from sayso.verify.inputs.error_feedback import ErrorFeedback, read_feedback
from sayso.verify.inputs.flattener import is_table, table_of
from sayso.verify.inputs.roles import PATHS, Role
from sayso.verify.inputs.world import World

_NEW: Final = frozenset({Role.NEW_FILE, Role.NEW_WORKBOOK})
_TAIL: Final = frozenset({"missing", "outside", "empty", "null", "absent"})


def corrections(
    arguments: Mapping[str, Any], text: str, parameters: Sequence[Parameter], world: World
) -> Iterator[dict[str, Any]]:
    """Yield arguments that may avoid the error `text` of a call, the likeliest first."""
    feedback = read_feedback(text)
    if not feedback.text:
        return
    yield from _with_settings(arguments, feedback, parameters)
    yield from _with_lacking(arguments, feedback, parameters)
    for parameter in _blamed(arguments, feedback, parameters):
        for value in _proposals(arguments[parameter.name], parameter, feedback, world):
            yield {**arguments, parameter.name: value}


def _with_settings(
    arguments: Mapping[str, Any], feedback: ErrorFeedback, parameters: Sequence[Parameter]
) -> Iterator[dict[str, Any]]:
    """Yield arguments with a setting that the error proposes, such as `overwrite=true`."""
    names = {parameter.name for parameter in parameters}
    for name, value in feedback.settings:
        if name in names and arguments.get(name) != value:
            yield {**arguments, name: value}


def _with_lacking(
    arguments: Mapping[str, Any], feedback: ErrorFeedback, parameters: Sequence[Parameter]
) -> Iterator[dict[str, Any]]:
    """Yield arguments with the missing parameters that the error names: one added, then all."""
    if not feedback.is_lacking:
        return
    lacking = [
        parameter
        for parameter in parameters
        if parameter.name not in arguments and feedback.names(parameter.name)
    ]
    found = {
        parameter.name: first.value
        for parameter in lacking
        for first in [option for option in parameter.options if option.label not in _TAIL][:1]
    }
    yield from ({**arguments, name: value} for name, value in list(found.items())[:1])
    if len(found) > 1:
        yield {**arguments, **found}


def _blamed(
    arguments: Mapping[str, Any], feedback: ErrorFeedback, parameters: Sequence[Parameter]
) -> list[Parameter]:
    given = [parameter for parameter in parameters if parameter.name in arguments]
    found = [parameter for parameter in given if feedback.blames(arguments[parameter.name])]
    found += [
        parameter
        for parameter in given
        if parameter not in found and feedback.names(parameter.name)
    ]
    found += [
        parameter
        for parameter in given
        if parameter not in found and _lacks_within(parameter, arguments, feedback)
    ]
    if not found and feedback.endings:
        found = [parameter for parameter in given if parameter.meaning.role in PATHS]
    return found


def _lacks_within(
    parameter: Parameter, arguments: Mapping[str, Any], feedback: ErrorFeedback
) -> dict[str, Any]:
    value = arguments[parameter.name]
    if not is_table(value) or not feedback.is_lacking:
        return {}
    found: dict[str, Any] = {}
    for option in parameter.options:
        for name, inner in table_of(option.value).items():
            if name not in value and name not in found and feedback.names(name):
                found[name] = inner
    return found


def _proposals(
    value: Any, parameter: Parameter, feedback: ErrorFeedback, world: World
) -> Iterator[Any]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if feedback.least is not None and value < feedback.least:
            yield feedback.least
        return
    if is_table(value):
        if more := _lacks_within(parameter, {parameter.name: value}, feedback):
            yield {**value, **more}
        return
    is_list = isinstance(value, list)
    if not is_list and not isinstance(value, str):
        return
    proposals: list[Any] = [*_ending(parameter, feedback, world)]
    if isinstance(value, str):
        proposals += feedback.swapped(value)
    if parameter.meaning.role not in PATHS:
        proposals += [
            taught_value
            for taught_value in feedback.values
            if taught_value not in (value, parameter.name)
        ]
    if is_list:
        proposals = [[value] for value in proposals]
    yield from proposals
    yield from (option.value for option in parameter.options if option.label not in _TAIL)


def _ending(parameter: Parameter, feedback: ErrorFeedback, world: World) -> Iterator[str]:
    if parameter.meaning.role not in PATHS or not feedback.endings:
        return
    if parameter.meaning.role in _NEW:
        for value in world.values(parameter.meaning).get("new", ()):
            yield from (str(PurePosixPath(value).with_suffix(end)) for end in feedback.endings)
    else:
        yield from world.ending(feedback.endings)
