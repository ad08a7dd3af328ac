"""Edits of source with libcst: a keyword of a call, a dict entry, an import."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider
from typing_extensions import override

from sayso.intent import HINT_NAMES, WIRE_NAMES
from sayso.source.definitions import CLASS, HOMES, Edit
from sayso.source.program import Module

_WIDTH: Final = 88
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_KEYWORD: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

_SNAKE: Final[Mapping[str, str]] = {WIRE_NAMES[name]: f"{name}_hint" for name in HINT_NAMES}

Span = tuple[int, int, int, int]


def apply(data: bytes, module: Module, edits: Sequence[Edit]) -> bytes | None:
    """Apply all edits; return `None` if libcst cannot keep the other bytes."""
    wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
    if wrapper.module.bytes != data:
        return None
    lines = _LINE_END.split(data.decode(wrapper.module.encoding))
    places = {_span(lines, edit.place): edit for edit in edits}
    style = _style(module)
    writer = _Writer(places, style, wrapper.module.default_indent, lines)
    after = wrapper.visit(writer)
    if writer.uses_class and not style.has_class:
        after = _with_import(after, style.home)
    return after.bytes


@dataclass(frozen=True, slots=True)
class _Style:
    """A file's spelling of `ToolAnnotations`, the class of the module `home`.

    `has_class` means that the file already imports it.
    """

    name: str
    home: str
    has_class: bool


def _style(module: Module) -> _Style:
    imports = {
        local: dotted
        for statement in module.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for local, dotted in ((alias.asname or alias.name, "") for alias in statement.names)
        for dotted in [module.imports.get(local, dotted)]
    }
    uses_new = any(
        dotted == "mcp_types" or dotted.startswith("mcp_types.") for dotted in imports.values()
    )
    home = HOMES[uses_new]
    for local, dotted in imports.items():
        if dotted in {f"{home}.{CLASS}" for home in HOMES}:
            return _Style(local, home, has_class=True)
    for local, dotted in imports.items():
        if dotted in HOMES and "." not in local:
            return _Style(f"{local}.{CLASS}", home, has_class=True)
    return _Style(CLASS, home, has_class=False)


def _span(lines: Sequence[str], node: ast.expr) -> Span:
    """Return the position of a node in characters; `ast` counts bytes."""

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    end = node.end_lineno or node.lineno
    last = node.end_col_offset or 0
    return node.lineno, column(node.lineno, node.col_offset), end, column(end, last)


@dataclass(frozen=True, slots=True)
class _Spot:
    """The position of a call: its column, and the indentation of its line.

    `block` is the indentation of the block, which libcst writes itself. `base` is the additional
    indentation of the line, such as inside a list of several lines.
    """

    column: int
    block: str
    base: str
    step: str

    @property
    def inner(self) -> str:
        return self.base + self.step


class _Writer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(
        self, places: Mapping[Span, Edit], style: _Style, indent: str, lines: Sequence[str]
    ) -> None:
        super().__init__()
        self.places = places
        self.style = style
        self.indent = indent
        self.lines = lines
        self.blocks: list[str] = []
        self.uses_class = False

    @override
    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self.blocks.append(self.indent if node.indent is None else node.indent)

    @override
    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.blocks.pop()
        return updated_node

    @override
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        edit = self._edit_at(original_node)
        if edit is None:
            return updated_node
        return self._written(updated_node, edit, self._spot(original_node))

    @override
    def leave_Decorator(
        self, original_node: cst.Decorator, updated_node: cst.Decorator
    ) -> cst.Decorator:
        decorator = original_node.decorator
        if isinstance(decorator, cst.Call):
            return updated_node
        edit = self._edit_at(decorator)
        if edit is None:
            return updated_node
        call = cst.Call(updated_node.decorator)
        written = self._written(call, edit, self._spot(decorator))
        return updated_node.with_changes(decorator=written)

    def _edit_at(self, node: cst.CSTNode) -> Edit | None:
        place = self.get_metadata(PositionProvider, node)
        return self.places.get(_span_of(place)) if isinstance(place, CodeRange) else None

    def _spot(self, node: cst.CSTNode) -> _Spot:
        place = self.get_metadata(PositionProvider, node)
        start = place.start if isinstance(place, CodeRange) else CodePosition(1, 0)
        line = self.lines[start.line - 1]
        block = "".join(self.blocks)
        lead = line[: len(line) - len(line.lstrip(" \t"))]
        base = lead.removeprefix(block) if lead.startswith(block) else ""
        return _Spot(start.column, block, base, self.indent)

    def _written(self, call: cst.Call, edit: Edit, spot: _Spot) -> cst.Call:
        if edit.title is not None:
            value = cst.SimpleString(json.dumps(edit.title, ensure_ascii=False))
            call = _with_keyword(call, "title", value, spot)
        if not edit.annotations:
            return call
        return self._with_hints(call, edit, spot)

    def _with_hints(self, call: cst.Call, edit: Edit, spot: _Spot) -> cst.Call:
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value == "annotations":
                value = self._extended(arg.value, edit, spot)
                return _with_keyword(call, "annotations", value, spot)
        return _with_keyword(call, "annotations", self._made(edit), spot)

    def _made(self, edit: Edit) -> cst.BaseExpression:
        """Return `ToolAnnotations(…)`, or `{…}` for FastMCP if the file lacks the class."""
        if edit.framework == "fastmcp" and not self.style.has_class:
            entries = ", ".join(f'"{name}": {value}' for name, value in edit.annotations.items())
            return cst.parse_expression(f"{{{entries}}}")
        keywords = ", ".join(f"{name}={value}" for name, value in edit.annotations.items())
        self.uses_class = True
        return cst.parse_expression(f"{self.style.name}({keywords})")

    def _extended(self, value: cst.BaseExpression, edit: Edit, spot: _Spot) -> cst.BaseExpression:
        if isinstance(value, cst.Dict):
            return _with_entries(value, edit.annotations)
        if not isinstance(value, cst.Call):
            return self._made(edit)
        names = [argument.keyword.value for argument in value.args if argument.keyword]
        is_snake = any(name.endswith("_hint") for name in names)
        for name, literal in edit.annotations.items():
            keyword = name
            if is_snake:
                keyword = _SNAKE.get(name, name)
            new = cst.Arg(cst.parse_expression(literal), cst.Name(keyword), _KEYWORD)
            value = _appended(value, new, spot.inner + spot.step)
        return value


def _with_keyword(call: cst.Call, name: str, value: cst.BaseExpression, spot: _Spot) -> cst.Call:
    for index, arg in enumerate(call.args):
        if arg.keyword is not None and arg.keyword.value == name:
            args = [*call.args[:index], arg.with_changes(value=value), *call.args[index + 1 :]]
            return _fitted(call.with_changes(args=args), index, spot)
    longer = _appended(call, cst.Arg(value, cst.Name(name), _KEYWORD), spot.inner)
    return _fitted(longer, len(longer.args) - 1, spot)


def _fitted(call: cst.Call, index: int, spot: _Spot) -> cst.Call:
    """Put a call that is too long on several lines, and its hints too if they are too long."""
    code = _code(call)
    if "\n" not in code and spot.column + len(code) > _WIDTH:
        call = _spread_call(call, spot.inner, spot.base)
    arg = call.args[index]
    first = call.whitespace_before_args
    if not _is_long(call, arg.value, spot):
        return call
    is_open = isinstance(first, cst.ParenthesizedWhitespace)
    outer = first.last_line.value if is_open else spot.inner
    value: cst.BaseExpression = arg.value
    if isinstance(value, cst.Call):
        value = _spread_call(value, outer + spot.step, outer)
    elif isinstance(value, cst.Dict):
        value = _spread_dict(value, outer + spot.step, outer)
    args = [*call.args[:index], arg.with_changes(value=value), *call.args[index + 1 :]]
    return call.with_changes(args=args)


def _is_long(call: cst.Call, value: cst.BaseExpression, spot: _Spot) -> bool:
    code = _code(value)
    start = spot.column
    for line in _code(call).split("\n"):
        if code in line and start + len(line) > _WIDTH:
            return True
        start = len(spot.block)
    return False


def _span_of(place: CodeRange) -> Span:
    return place.start.line, place.start.column, place.end.line, place.end.column


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _appended(call: cst.Call, new: cst.Arg, inner: str) -> cst.Call:
    """Add an argument to a call in the layout of its arguments; `inner` is the indentation."""
    first = call.whitespace_before_args
    if not call.args:
        if isinstance(first, cst.ParenthesizedWhitespace):
            end = cst.ParenthesizedWhitespace(indent=first.indent, last_line=first.last_line)
            new = new.with_changes(comma=cst.Comma(whitespace_after=end))
            first = first.with_changes(indent=True, last_line=cst.SimpleWhitespace(inner))
        return call.with_changes(whitespace_before_args=first, args=[new])
    *before, last = call.args
    if not isinstance(first, cst.ParenthesizedWhitespace):
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        tail = last.comma
        moved = new.with_changes(comma=tail, whitespace_after_arg=last.whitespace_after_arg)
        kept = last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace(""))
        return call.with_changes(args=[*before, kept, moved])
    return call.with_changes(args=[*before, *_on_a_line(last, new, first.last_line)])


def _on_a_line(
    last: cst.Arg, new: cst.Arg, indent: cst.SimpleWhitespace
) -> tuple[cst.Arg, cst.Arg]:
    """Put two arguments on lines of their own, and keep the text after the last."""
    between = last.whitespace_after_arg
    if isinstance(last.comma, cst.Comma):
        between = last.comma.whitespace_after
    after = cst.ParenthesizedWhitespace(indent=True, last_line=indent)
    tail: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace("")
    if isinstance(between, cst.ParenthesizedWhitespace):
        after = between.with_changes(last_line=indent)
        tail = cst.ParenthesizedWhitespace(indent=True, last_line=between.last_line)
    kept = last.with_changes(
        comma=cst.Comma(whitespace_after=after), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    if isinstance(last.comma, cst.Comma):
        return kept, new.with_changes(comma=cst.Comma(whitespace_after=tail))
    return kept, new.with_changes(whitespace_after_arg=tail)


def _line(indent: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(indent))


def _spread_call(call: cst.Call, inner: str, outer: str) -> cst.Call:
    comma = cst.Comma(whitespace_after=_line(inner))
    args = [argument.with_changes(comma=comma) for argument in call.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=_line(outer)))
    return call.with_changes(whitespace_before_args=_line(inner), args=args)


def _spread_dict(value: cst.Dict, inner: str, outer: str) -> cst.Dict:
    comma = cst.Comma(whitespace_after=_line(inner))
    elements = [element.with_changes(comma=comma) for element in value.elements]
    elements[-1] = elements[-1].with_changes(comma=cst.Comma())
    return value.with_changes(
        lbrace=cst.LeftCurlyBrace(whitespace_after=_line(inner)),
        elements=elements,
        rbrace=cst.RightCurlyBrace(whitespace_before=_line(outer)),
    )


def _with_entries(value: cst.Dict, entries: Mapping[str, str]) -> cst.Dict:
    quote = next(
        (
            element.key.quote
            for element in value.elements
            if isinstance(element, cst.DictElement) and isinstance(element.key, cst.SimpleString)
        ),
        '"',
    )
    new = [
        cst.DictElement(cst.SimpleString(f"{quote}{name}{quote}"), cst.parse_expression(literal))
        for name, literal in entries.items()
    ]
    if not value.elements:
        return value.with_changes(elements=_joined(new, cst.SimpleWhitespace(" ")))
    after, brace = _between(value)
    *before, last = value.elements
    new[-1] = new[-1].with_changes(comma=last.comma)
    last = last.with_changes(comma=cst.Comma(whitespace_after=after))
    line = _bare(after)
    return value.with_changes(elements=[*before, last, *_joined(new, line)], rbrace=brace)


def _joined(
    entries: Sequence[cst.DictElement], space: cst.BaseParenthesizableWhitespace
) -> list[cst.DictElement]:
    comma = cst.Comma(whitespace_after=space)
    return [*[entry.with_changes(comma=comma) for entry in entries[:-1]], entries[-1]]


def _bare(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return cst.ParenthesizedWhitespace(indent=space.indent, last_line=space.last_line)


def _between(value: cst.Dict) -> tuple[cst.BaseParenthesizableWhitespace, cst.RightCurlyBrace]:
    """Return the whitespace to write after the present last entry, and the closing brace.

    A comment after the last entry belongs to that entry and stays with it.
    """
    first = value.lbrace.whitespace_after
    end = value.rbrace.whitespace_before
    if not isinstance(first, cst.ParenthesizedWhitespace):
        return cst.SimpleWhitespace(" "), value.rbrace
    if not isinstance(end, cst.ParenthesizedWhitespace):
        return _bare(first), value.rbrace
    after = end.with_changes(indent=first.indent, last_line=first.last_line)
    return after, value.rbrace.with_changes(whitespace_before=_bare(end))


def _with_import(module: cst.Module, home: str) -> cst.Module:
    """Add `from mcp.types import ToolAnnotations` after the last import of the SDK."""
    line = cst.parse_statement(f"from {home} import {CLASS}\n")
    body = list(module.body)
    places = [index for index, statement in enumerate(body) if _imports(statement, "")]
    places = [index for index in places if _imports(body[index], "mcp")] or places
    places = places or [int(module.get_docstring() is not None) - 1]
    body.insert(places[-1] + 1, line)
    return module.with_changes(body=body)


def _imports(statement: cst.CSTNode, root: str) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    names: list[str] = []
    for line in statement.body:
        if isinstance(line, cst.Import):
            names.append(_code(line.names[0].name))
        elif isinstance(line, cst.ImportFrom):
            names.append(_code(line.module or cst.Name("")))
    return any(name.startswith(root) for name in names)
