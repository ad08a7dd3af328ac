"""Corrections of rejected arguments, using the text of the error."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final

from sayso.verify.inputs.classes import Parameter
from sayso.verify.inputs.error_feedback import ErrorFeedback, read_feedback
from sayso.verify.inputs.flattener import is_list, is_table, table_of
from sayso.verify.inputs.roles import PATHS, Role
from sayso.verify.inputs.world import SAFE_STATEMENTS, World

_NEW: Final = frozenset({Role.NEW_FILE, Role.NEW_WORKBOOK})
_LIKELY: Final = PATHS | {Role.SQL, Role.URL}
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
    # Where an error offers a choice, an id that no one knows is the worse one.
    lacking.sort(key=_is_guessed)
    found = {
        parameter.name: first.value
        for parameter in lacking
        for first in [option for option in parameter.options if option.label not in _TAIL][:1]
    }
    yield from ({**arguments, name: value} for name, value in list(found.items())[:1])
    if len(found) > 1:
        yield {**arguments, **found}


def _is_guessed(parameter: Parameter) -> bool:
    return any(option.label == "guessed" for option in parameter.options[:1])


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
    if not found:
        # Many servers hide what was wrong; a path, a URL or a statement is the likeliest.
        found = [parameter for parameter in given if parameter.meaning.role in _LIKELY]
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
    if isinstance(value, str):
        yield from _texts(value, parameter, feedback, world)
    elif is_list(value):
        first = value[0] if value and isinstance(value[0], str) else ""
        yield from ([text] for text in _texts(first, parameter, feedback, world))
    else:
        return
    untried = [] if parameter.meaning.role is Role.SQL else _untried(parameter)
    if parameter.meaning.role in PATHS and isinstance(value, str):
        untried[2:2] = _relative(value, world)
    yield from untried


def _texts(
    value: str, parameter: Parameter, feedback: ErrorFeedback, world: World
) -> Iterator[str]:
    """Yield texts that the error suggests for a parameter, or an item of a list."""
    yield from _ending(parameter, feedback, world)
    if parameter.meaning.role in PATHS:
        yield from _other_paths(value, parameter, feedback, world)
    yield from feedback.swapped(value)
    if parameter.meaning.role is Role.SQL:
        yield from SAFE_STATEMENTS
    elif parameter.meaning.role not in PATHS:
        yield from (text for text in feedback.values if text not in (value, parameter.name))


def _untried(parameter: Parameter) -> list[Any]:
    """Return a parameter's likely values; those that the server itself named come first."""
    options = [option for option in parameter.options if option.label not in _TAIL]
    return [
        option.value for option in sorted(options, key=lambda option: option.origin != "harvest")
    ]


def _other_paths(
    value: str, parameter: Parameter, feedback: ErrorFeedback, world: World
) -> Iterator[str]:
    """Yield paths of the kind or the form that an error asks for."""
    yield from world.holding(feedback.files)
    if feedback.wants_folder:
        yield from world.values(Role.DIRECTORY)["directory"]
    if feedback.wants_file:
        yield from world.values(Role.FILE)["existing"]
    if feedback.wants_absolute and not value.startswith("/"):
        yield f"{world.inside}/{value}"
    if feedback.wants_relative:
        yield from _relative(value, world)
        for path in _untried(parameter):
            if isinstance(path, str):
                yield from _relative(path, world)


def _relative(value: str, world: World) -> Iterator[str]:
    """Yield a path of the world relative to its folder, then its name alone."""
    path = PurePosixPath(value)
    if path.is_relative_to(world.inside) and path != PurePosixPath(world.inside):
        yield str(path.relative_to(world.inside))
        yield path.name


def _ending(parameter: Parameter, feedback: ErrorFeedback, world: World) -> Iterator[str]:
    if parameter.meaning.role not in PATHS or not feedback.endings:
        return
    if parameter.meaning.role in _NEW:
        for value in world.values(parameter.meaning).get("new", ()):
            yield from (str(PurePosixPath(value).with_suffix(end)) for end in feedback.endings)
    else:
        yield from world.ending(feedback.endings)
