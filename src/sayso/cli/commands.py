"""Commands made from functions: parameters become options, docstrings become help.

`click` parses the words; uvicorn brings it along anyway. What stands here reads a function's
signature. The libraries that do the same (cyclopts, typer) bring rich and Pygments along, which
take 20 MB.
"""

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from sayso.errors import UsageError

if TYPE_CHECKING:
    import click

F = TypeVar("F", bound=Callable[..., Any])
Function = Callable[..., Any]

_HELP: Final = frozenset({"-h", "--help"})
_FIX: Final = "Run sayso --help for the commands, sayso COMMAND --help for its options."
_PARAMETERS: Final = "Parameters\n----------\n"
_MAX_LISTED: Final = 8


@dataclass(frozen=True)
class Parameter:
    """How a parameter is given, as metadata of `Annotated`.

    `names` replace the name that follows from the parameter's own; a name of one dash is added to
    it. Without `is_parsed`, the words after `--` go into the parameter.
    """

    names: tuple[str, ...] = ()
    help: str = ""
    is_parsed: bool = True


def option(*names: str, help: str = "") -> Parameter:  # noqa: A002 - as it is shown
    """Return how an option is given that has other names or a help text of its own."""
    return Parameter(names, help)


@dataclass(frozen=True)
class Parsed:
    """A function with the arguments that were given for it."""

    function: Function
    arguments: dict[str, Any]
    takes_command: bool

    @property
    def with_defaults(self) -> dict[str, Any]:
        signature = inspect.signature(self.function)
        bound = signature.bind_partial()
        bound.apply_defaults()
        return {**bound.arguments, **self.arguments}

    def run(self) -> Any:
        """Call the function."""
        named = dict(self.arguments)
        positional: list[Any] = []
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += named.pop(name, ())
            elif parameter.kind is not parameter.KEYWORD_ONLY:
                positional.append(named.pop(name, parameter.default))
        return self.function(*positional, **named)


@dataclass
class App:
    """A group of commands; a command is a function, a group, or `module:name` of one."""

    name: str
    help: str
    version: str = ""
    _commands: dict[str, tuple[Any, str]] = field(default_factory=dict[str, tuple[Any, str]])
    _default: Function | None = None

    def add(self, name: str, place: str, help: str) -> None:  # noqa: A002 - as it is shown
        """Add a command that is imported when it is run."""
        self._commands[name] = (place, help)

    def command(self, function: Function | None = None, *, name: str = "") -> Any:
        """Add a function as a command; a decorator."""

        def add(made: F) -> F:
            self._commands[name or made.__name__] = (made, "")
            return made

        return add if function is None else add(function)

    def default(self, function: F) -> F:
        """Run a function where no command is named; a decorator."""
        self._default = function
        return function

    def parse(self, words: Sequence[str], path: str = "") -> "Parsed | str":
        """Return the function that `words` name, or the text of a page of help.

        Raises `UsageError`.
        """
        path = f"{path} {self.name}".strip()
        first = words[0] if words else "--help"
        if self.version and first == "--version":
            return self.version
        if first in self._commands:
            found = _load(self._commands[first][0])
            if isinstance(found, App):
                return found.parse(words[1:], path)
            return _parse(found, words[1:], f"{path} {first}")
        if self._default is not None and (
            not words or (first.startswith("-") and first not in _HELP)
        ):
            return _parse(self._default, words, path)
        if first in _HELP:
            return self.page(path)
        raise _unknown(first, self._commands)

    def pages(self, path: str = "") -> Iterator[tuple[str, str]]:
        """Yield each command below this one, with its page of help."""
        path = f"{path} {self.name}".strip()
        for name, (place, _) in self._commands.items():
            made = _load(place)
            if isinstance(made, App):
                yield f"{path} {name}", made.page(f"{path} {name}")
                yield from made.pages(path)
            else:
                page = _parse(made, ["--help"], f"{path} {name}")
                yield f"{path} {name}", str(page)

    def page(self, path: str) -> str:
        """Return the page of help, which lists the commands."""
        import click

        formatter = click.HelpFormatter()
        formatter.write_usage(path, "COMMAND")
        formatter.write_paragraph()
        formatter.write_text(self.help)
        rows = [
            (name, summary or _help_of(made)[0]) for name, (made, summary) in self._commands.items()
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        return formatter.getvalue()


def _load(command: Any) -> Any:
    if not isinstance(command, str):
        return command
    module, _, name = command.partition(":")
    return getattr(import_module(module), name)


def _unknown(word: str, commands: Mapping[str, object]) -> UsageError:
    kind = "option" if word.startswith("-") else "command"
    near = get_close_matches(word, commands, 1)
    names = [*commands]
    rest = ", ..." if len(names) > _MAX_LISTED else ""
    hint = f"Available commands: {', '.join(names[:_MAX_LISTED])}{rest}"
    if near:
        hint = f'Did you mean "{near[0]}"?'
    return UsageError(f'Unknown {kind} "{word}". {hint}', fix=_FIX)


def _parse(function: Function, words: Sequence[str], path: str) -> "Parsed | str":
    import click

    params, takes_command = _click_params(function)
    command = click.Command(
        path,
        params=params,
        help="\n\n".join(_paragraphs(function, params)),
        context_settings={"help_option_names": ["--help", "-h"], "show_default": True},
        callback=None,
    )
    if not _HELP.isdisjoint(words):
        return command.get_help(click.Context(command, info_name=path))
    try:
        context = command.make_context(path, [*words])
    except click.UsageError as error:
        raise UsageError(error.format_message(), fix=_FIX) from error
    given = {
        name: context.params[name]
        for name in context.params
        if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
    }
    return Parsed(function, _arguments(function, given), takes_command)


def _paragraphs(function: Function, params: "Sequence[click.Parameter]") -> list[str]:
    """Return the paragraphs of a page of help; click shows no texts of arguments itself."""
    first, rest, texts = _help_of(function)
    arguments = {
        param.name or "": about.help
        for param in params
        for name, _, about, _ in _parameters(function)
        if param.param_type_name == "argument" and param.name == name
    }
    told = [f"{name.upper()}: {texts.get(name) or text}" for name, text in arguments.items()]
    return [first, rest, *told]


def _arguments(function: Function, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function's arguments; options of a group become one object."""
    arguments: dict[str, Any] = {}
    for name, kind, _, parameter in _parameters(function):
        if dataclasses.is_dataclass(kind):
            fields = [one.name for one in dataclasses.fields(kind)]
            values = {one: given[one] for one in fields if one in given}
            default = parameter.default
            if dataclasses.is_dataclass(default) and not isinstance(default, type):
                arguments[name] = dataclasses.replace(default, **values)
            elif values:
                arguments[name] = cast("Any", kind)(**values)
        elif name in given:
            arguments[name] = given[name]
    return arguments


def _parameters(function: Function) -> list[tuple[str, Any, Parameter, inspect.Parameter]]:
    hints = get_type_hints(function, include_extras=True)
    found: list[tuple[str, Any, Parameter, inspect.Parameter]] = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind, about = _about(hints[name])
        found.append((name, kind, about, parameter))
    return found


def _about(annotation: Any) -> tuple[Any, Parameter]:
    """Return a type without `None`, and how its parameter is given."""
    about = Parameter()
    kind = annotation
    while True:
        if get_origin(kind) is Annotated:
            kind, *metadata = get_args(kind)
            about = next((one for one in metadata if isinstance(one, Parameter)), about)
        elif get_origin(kind) in (Union, types.UnionType):
            rest = [one for one in get_args(kind) if one is not type(None)]
            if len(rest) != 1:
                return kind, about
            (kind,) = rest
        else:
            return kind, about


def _click_params(function: Function) -> "tuple[list[click.Parameter], bool]":
    """Return click's parameters, and whether the function gets the words after `--`."""
    texts = _help_of(function)[2]
    params: list[click.Parameter] = []
    takes_command = False
    for name, kind, about, parameter in _parameters(function):
        if not about.is_parsed:
            takes_command = True
        elif dataclasses.is_dataclass(kind):
            params += _of_group(cast("type[Any]", kind))
        elif parameter.kind is parameter.KEYWORD_ONLY:
            params.append(_option(name, kind, about, parameter.default, texts.get(name, "")))
        else:
            params.append(_argument(name, kind, parameter))
    return params, takes_command


def _of_group(kind: type[Any]) -> "list[click.Parameter]":
    hints = get_type_hints(kind, include_extras=True)
    texts = _help_of(kind)[2]
    return [
        _option(one.name, *_about(hints[one.name]), one.default, texts.get(one.name, ""))
        for one in dataclasses.fields(kind)
    ]


def _argument(name: str, kind: Any, parameter: inspect.Parameter) -> "click.Argument":
    import click

    is_many = parameter.kind is parameter.VAR_POSITIONAL
    is_required = parameter.default is parameter.empty and not is_many
    return click.Argument(
        [name], type=_type(kind), nargs=-1 if is_many else 1, required=is_required
    )


def _option(name: str, kind: Any, about: Parameter, default: Any, text: str) -> "click.Option":
    import click

    names = about.names
    if not any(word.startswith("--") for word in names):
        names = (f"--{name.rstrip('_').replace('_', '-')}", *names)
    is_many = get_origin(kind) in (list, tuple)
    container = get_origin(kind) if is_many else None
    is_flag = kind is bool
    is_required = default is inspect.Parameter.empty or default is dataclasses.MISSING
    shown = default not in (None, False, ()) and not is_required
    if isinstance(default, Enum):
        default = str(default.value)

    def convert(_context: object, _option: object, value: Any) -> Any:
        if container is None or value is None:
            return value
        return container(value)

    # Click counts a default of `None` as a value, which a required option would then have.
    given: dict[str, Any] = {"default": default} if shown and not is_many else {}
    return click.Option(
        [*names, name],
        type=None if is_flag else _type(get_args(kind)[0] if is_many else kind),
        is_flag=is_flag or None,
        multiple=is_many,
        required=is_required,
        **given,
        show_default=shown,
        help=about.help or text,
        callback=convert,
    )


def _type(kind: Any) -> Any:
    import click

    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path:
        return click.Path(path_type=Path)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _values_of(kind)
    return cast("Any", kind)


def _values_of(kind: type[Enum]) -> Any:
    """Return a type for click that reads a value of `kind`."""
    import click

    class Values(click.Choice[Any]):
        def convert(self, value: Any, param: Any, ctx: Any) -> Any:
            return value if isinstance(value, kind) else kind(super().convert(value, param, ctx))

    return Values([str(one.value) for one in kind])


def _help_of(made: Any) -> tuple[str, str, Mapping[str, str]]:
    """Return the first paragraph of a docstring, the rest, and the texts of its parameters."""
    if isinstance(made, App):
        return made.help, "", {}
    text, _, listed = (inspect.getdoc(made) or "").partition(_PARAMETERS)
    first, _, rest = text.strip().partition("\n\n")
    texts: dict[str, str] = {}
    for match in re.finditer(r"^(\w+)\n((?:[ ].*\n?)+)", listed, re.MULTILINE):
        texts[match[1]] = " ".join(match[2].split())
    return " ".join(first.split()), rest.strip(), texts
