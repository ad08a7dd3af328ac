"""Patches that add missing annotations to a server's source and keep every other byte."""

import ast
import difflib
import io
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.errors import ConfigError, UsageError
from sayso.extras import install_fix
from sayso.intent import HINT_NAMES, WIRE_NAMES, HintName
from sayso.source.definitions import CLASS, Definition, Edit, Hints, find_definitions, keyword_of
from sayso.source.program import Module, read_module

_WRITTEN: Final = ("annotations", "title")
_BEFORE_ANNOTATIONS: Final[Mapping[str, int]] = {"tool": 3, "add_tool": 4, "from_function": 99}
"""The number of positional arguments before `annotations`."""


@dataclass(frozen=True, slots=True)
class Added:
    """Hints and titles added to a tool, with the line of its definition.

    `title` is an argument of the definition, `inner_title` is in the annotations.
    """

    name: str
    line: int
    hints: Hints
    title: str | None = None
    inner_title: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A tool that is unchanged, with the reason."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A file before and after the change, with added and unchanged tools."""

    file: str
    before: bytes = field(repr=False)
    after: bytes = field(repr=False)
    added: tuple[Added, ...]
    left: tuple[Left, ...]

    @property
    def diff(self) -> list[str]:
        old, new = (_text(self.file, data).splitlines() for data in (self.before, self.after))
        return list(difflib.unified_diff(old, new, self.file, self.file, lineterm=""))


def annotate_source(
    file: str,
    data: bytes,
    wanted: Mapping[str, Hints],
    *,
    titles: Mapping[str, str] | None = None,
    inner_titles: Mapping[str, str] | None = None,
) -> Patch:
    """Add the `wanted` hints, by tool, to the definitions in a Python file.

    `titles` are added to tools without a title, `inner_titles` to annotations without a title.
    Existing declarations are kept. Needs the extra `patch`. Raises `ConfigError` for invalid
    Python, and `UsageError` if libcst is missing.
    """
    module = read_module(file, _text(file, data))
    edits, left = _plan(module, wanted, titles or {}, inner_titles or {})
    if not edits:
        return Patch(file, data, data, (), tuple(left))
    after = _applied(file, data, module, [edit for _, edit in edits])
    check_change(file, data, after)
    added = [
        Added(definition.name or "", definition.line, edit.hints, edit.title, edit.inner_title)
        for definition, edit in edits
    ]
    return Patch(file, data, after, tuple(added), tuple(left))


def check_change(file: str, before: bytes, after: bytes) -> None:
    """Raise `ConfigError` if two files differ in more than tool annotations."""
    old, new = (_bare(read_module(file, _text(file, data))) for data in (before, after))
    if old != new:
        what = "the change would affect more than annotations; nothing is written"
        raise ConfigError(what, where=file, fix="Add the annotations by hand, and report this.")


def _plan(
    module: Module,
    wanted: Mapping[str, Hints],
    titles: Mapping[str, str],
    inner_titles: Mapping[str, str],
) -> tuple[list[tuple[Definition, Edit]], list[Left]]:
    definitions = find_definitions(module)
    counts = Counter(definition.name for definition in definitions)
    named = {**wanted, **titles, **inner_titles}
    edits: list[tuple[Definition, Edit]] = []
    left = [
        Left(name, "the file has no definition with this name")
        for name in named
        if not counts[name]
    ]
    for definition in definitions:
        if definition.name is None or definition.name not in named:
            continue
        why = _obstacle(module, definition)
        if counts[definition.name] > 1:
            why = "the tool is defined twice"
        hints = _missing(definition, wanted.get(definition.name, {}))
        title = inner = None
        if not _has_title(definition):
            title = titles.get(definition.name)
        if "title" not in _annotated(definition):
            inner = inner_titles.get(definition.name)
        if why:
            left.append(Left(definition.name, why))
        elif hints or title or inner:
            edits.append(
                (definition, Edit(definition.place, hints, definition.framework, title, inner))
            )
    return edits, left


def _obstacle(module: Module, definition: Definition) -> str | None:
    if definition.framework == "sayso" or definition.is_declared:
        return "the tool is declared with sayso: change its intent"
    if not isinstance(definition.place, ast.Call):
        return None
    call = definition.place
    last = module.dotted(definition.place.func).rpartition(".")[2]
    if definition.framework == "fastmcp" and last == "add_tool":
        return "FastMCP's add_tool accepts no annotations: use its decorator"
    if any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(argument, ast.Starred) for argument in call.args
    ):
        return "the definition uses * or ** arguments"
    if len(call.args) > _BEFORE_ANNOTATIONS.get(last, 0) and definition.framework == "official":
        return "the annotations are a positional argument"
    return _fault_of_value(module, keyword_of(call, "annotations"))


def _fault_of_value(module: Module, value: ast.expr | None) -> str | None:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return None
    if isinstance(value, ast.Call) and module.dotted(value.func).rpartition(".")[2] == CLASS:
        is_open = bool(value.args) or any(keyword.arg is None for keyword in value.keywords)
    elif isinstance(value, ast.Dict):
        is_open = not all(isinstance(key, ast.Constant) for key in value.keys)
    else:
        return f"the annotations are defined elsewhere: {ast.unparse(value)[:60]}"
    return "the annotations use ** arguments" if is_open else None


def _missing(definition: Definition, hints: Hints) -> dict[HintName, bool]:
    declared = _annotated(definition)
    return {
        name: hints[name]
        for name in HINT_NAMES
        if name in hints and declared.isdisjoint({WIRE_NAMES[name], f"{name}_hint"})
    }


def _has_title(definition: Definition) -> bool:
    """Return whether the call or its annotations have a title other than `None`."""
    if not isinstance(definition.place, ast.Call):
        return False
    is_second = definition.framework == "official" and len(definition.place.args) > 1
    title = keyword_of(definition.place, "title")
    is_given = title is not None and not (isinstance(title, ast.Constant) and title.value is None)
    return is_given or is_second or "title" in _annotated(definition)


def _annotated(definition: Definition) -> set[str]:
    value = None
    if isinstance(definition.place, ast.Call):
        value = keyword_of(definition.place, "annotations")
    if isinstance(value, ast.Call):
        return {keyword.arg for keyword in value.keywords if keyword.arg}
    if isinstance(value, ast.Dict):
        return {str(key.value) for key in value.keys if isinstance(key, ast.Constant)}
    return set()


def _applied(file: str, data: bytes, module: Module, edits: Sequence[Edit]) -> bytes:
    try:
        from sayso.source.edit import apply  # noqa: PLC0415 - libcst is an extra
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        what = "changing source needs libcst"
        raise UsageError(what, where=file, fix=install_fix("patch")) from error
    after = apply(data, module, edits)
    if after is None:
        what = "cannot keep the layout byte for byte (form feeds or mixed line endings)"
        raise ConfigError(what, where=file, fix="Add the annotations by hand.")
    return after


def _text(file: str, data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise ConfigError("unknown encoding", where=file) from error


class _Stripped(ast.NodeTransformer):
    def __init__(self, places: set[int]) -> None:
        self.places = places

    def visit(self, node: ast.AST) -> ast.AST | None:
        is_place = id(node) in self.places
        self.generic_visit(node)
        if isinstance(node, ast.ImportFrom):
            node.names = [name for name in node.names if name.name != CLASS]
            if not node.names:
                return None
            return node
        if is_place and isinstance(node, ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in _WRITTEN]
            return node
        if is_place and isinstance(node, ast.Name | ast.Attribute):
            return ast.Call(node, [], [])
        return node


def _bare(module: Module) -> str:
    places = {id(definition.place) for definition in find_definitions(module)}
    stripped = _Stripped(places).visit(module.tree)
    return ast.dump(stripped or ast.Module([], []))
