"""The edit of a file's text, with libcst: a keyword for a call, an entry, an import."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from typing_extensions import override

from avow.intent import WIRE_NAMES, HintName
from avow.source.patch import CLASS, HOMES, Edit
from avow.source.program import Module

_WIDTH: Final = 88
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_KEYWORD: Final = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))

Span = tuple[int, int, int, int]


def apply(data: bytes, module: Module, edits: Sequence[Edit]) -> bytes | None:
    """The text with all edits; `None` where libcst would change more than was asked."""
    wrapper = MetadataWrapper(cst.parse_module(data), unsafe_skip_copy=True)
    if wrapper.module.bytes != data:
        return None
    lines = _LINE_END.split(data.decode(wrapper.module.encoding))
    places = {_span(lines, one.place): one for one in edits}
    style = _style(module)
    writer = _Writer(places, style, wrapper.module.default_indent)
    after = wrapper.visit(writer)
    if writer.uses_class and not style.has_class:
        after = _with_import(after, style.home)
    return after.bytes


@dataclass(frozen=True, slots=True)
class _Style:
    """How a file writes annotations: `name` is its word for the class, which is in `home`."""

    name: str
    home: str
    has_class: bool


def _style(module: Module) -> _Style:
    found = {
        local: dotted
        for one in module.tree.body
        if isinstance(one, ast.Import | ast.ImportFrom)
        for local, dotted in ((alias.asname or alias.name, "") for alias in one.names)
        for dotted in [module.imports.get(local, dotted)]
    }
    uses_new = any(one == "mcp_types" or one.startswith("mcp_types.") for one in found.values())
    home = HOMES[1] if uses_new else HOMES[0]
    for local, dotted in found.items():
        if dotted in {f"{one}.{CLASS}" for one in HOMES}:
            return _Style(local, home, has_class=True)
    for local, dotted in found.items():
        if dotted in HOMES and "." not in local:
            return _Style(f"{local}.{CLASS}", home, has_class=True)
    return _Style(CLASS, home, has_class=False)


def _span(lines: Sequence[str], node: ast.expr) -> Span:
    """Where a node stands, in characters: `ast` counts bytes."""

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    end, last = node.end_lineno or node.lineno, node.end_col_offset or 0
    return node.lineno, column(node.lineno, node.col_offset), end, column(end, last)


class _Writer(cst.CSTTransformer):
    """Writes hints into the calls and decorators at given places."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, places: Mapping[Span, Edit], style: _Style, indent: str) -> None:
        super().__init__()
        self.places = places
        self.style = style
        self.indent = indent
        self.uses_class = False

    @override
    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        edit = self._edit_at(original_node)
        if edit is None:
            return updated_node
        return self._written(updated_node, edit, self._column(original_node))

    @override
    def leave_Decorator(
        self, original_node: cst.Decorator, updated_node: cst.Decorator
    ) -> cst.Decorator:
        decorator = original_node.decorator
        edit = None if isinstance(decorator, cst.Call) else self._edit_at(decorator)
        if edit is None:
            return updated_node
        call = cst.Call(updated_node.decorator)
        written = self._written(call, edit, self._column(decorator))
        return updated_node.with_changes(decorator=written)

    def _edit_at(self, node: cst.CSTNode) -> Edit | None:
        place = self.get_metadata(PositionProvider, node)
        return self.places.get(_span_of(place)) if isinstance(place, CodeRange) else None

    def _column(self, node: cst.CSTNode) -> int:
        place = self.get_metadata(PositionProvider, node)
        return place.start.column if isinstance(place, CodeRange) else 0

    def _written(self, call: cst.Call, edit: Edit, column: int) -> cst.Call:
        if edit.title is not None:
            value = cst.SimpleString(json.dumps(edit.title, ensure_ascii=False))
            call = self._with_keyword(call, "title", value, column)
        return self._with_hints(call, edit, column) if edit.hints else call

    def _with_hints(self, call: cst.Call, edit: Edit, column: int) -> cst.Call:
        for arg in call.args:
            if arg.keyword is not None and arg.keyword.value == "annotations":
                value = self._extended(arg.value, edit)
                return self._with_keyword(call, "annotations", value, column)
        return self._with_keyword(call, "annotations", self._made(edit), column)

    def _with_keyword(
        self, call: cst.Call, name: str, value: cst.BaseExpression, column: int
    ) -> cst.Call:
        """A call with a keyword more; one that is there gets the value instead."""
        for index, arg in enumerate(call.args):
            if arg.keyword is not None and arg.keyword.value == name:
                args = [*call.args[:index], arg.with_changes(value=value), *call.args[index + 1 :]]
                return call.with_changes(args=args)
        longer = _appended(call, cst.Arg(value, cst.Name(name), _KEYWORD))
        if "\n" in _code(call) or column + len(_code(longer)) <= _WIDTH:
            return self._fitted(longer, column)
        return self._fitted(_spread(longer, self.indent, ""), column)

    def _fitted(self, call: cst.Call, column: int) -> cst.Call:
        """The same, with a hint on each line where they are too long for one."""
        value = call.args[-1].value
        if column + _longest(call) <= _WIDTH or not isinstance(value, cst.Call):
            return call
        spread = call.args[-1].with_changes(
            value=_spread(value, self.indent * 2, self.indent),
        )
        return call.with_changes(args=[*call.args[:-1], spread])

    def _made(self, edit: Edit) -> cst.BaseExpression:
        """`ToolAnnotations(…)`; for FastMCP, where the file has no such word, `{…}`."""
        hints = {WIRE_NAMES[name]: value for name, value in edit.hints.items()}
        if edit.framework == "fastmcp" and not self.style.has_class:
            return cst.parse_expression(str(hints).replace("'", '"'))
        said = ", ".join(f"{name}={value}" for name, value in hints.items())
        self.uses_class = True
        return cst.parse_expression(f"{self.style.name}({said})")

    def _extended(self, value: cst.BaseExpression, edit: Edit) -> cst.BaseExpression:
        """Annotations of the author's with what is missing behind it."""
        if isinstance(value, cst.Dict):
            return _with_entries(value, edit.hints)
        if not isinstance(value, cst.Call):
            return self._made(edit)
        names = [one.keyword.value for one in value.args if one.keyword]
        is_snake = any(name.endswith("_hint") for name in names)
        for name, hint in edit.hints.items():
            keyword = cst.Name(f"{name}_hint" if is_snake else WIRE_NAMES[name])
            value = _appended(value, cst.Arg(cst.Name(str(hint)), keyword, _KEYWORD))
        return value


def _span_of(place: CodeRange) -> Span:
    return place.start.line, place.start.column, place.end.line, place.end.column


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _longest(node: cst.CSTNode) -> int:
    return max(len(line) for line in _code(node).split("\n"))


def _appended(call: cst.Call, new: cst.Arg) -> cst.Call:
    """A call with one argument more, laid out as those that it has."""
    if not call.args:
        return call.with_changes(args=[new])
    *before, last = call.args
    first = call.whitespace_before_args
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
    """Two arguments, each on its line; what stood between the last and the end stays there."""
    if isinstance(last.comma, cst.Comma):
        between, end = last.comma.whitespace_after, last.comma
    else:
        between, end = last.whitespace_after_arg, None
    rest = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(""))
    if isinstance(between, cst.ParenthesizedWhitespace):
        rest = rest.with_changes(last_line=between.last_line)
        after = between.with_changes(last_line=indent)
    else:
        after = cst.ParenthesizedWhitespace(indent=True, last_line=indent)
    is_open = isinstance(between, cst.ParenthesizedWhitespace)
    tail = rest if is_open else cst.SimpleWhitespace("")
    kept = last.with_changes(
        comma=cst.Comma(whitespace_after=after), whitespace_after_arg=cst.SimpleWhitespace("")
    )
    if end is None:
        return kept, new.with_changes(whitespace_after_arg=tail)
    return kept, new.with_changes(comma=cst.Comma(whitespace_after=tail))


def _spread(call: cst.Call, inner: str, outer: str) -> cst.Call:
    """A call on one line with each argument on a line of its own."""
    line, end = (
        cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(one))
        for one in (inner, outer)
    )
    args = [one.with_changes(comma=cst.Comma(whitespace_after=line)) for one in call.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=end))
    return call.with_changes(whitespace_before_args=line, args=args)


def _with_entries(value: cst.Dict, hints: Mapping[HintName, bool]) -> cst.Dict:
    quote = next(
        (
            one.key.quote
            for one in value.elements
            if isinstance(one, cst.DictElement) and isinstance(one.key, cst.SimpleString)
        ),
        '"',
    )
    space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    elements = list(value.elements)
    for name, hint in hints.items():
        key = cst.SimpleString(f"{quote}{WIRE_NAMES[name]}{quote}")
        new = cst.DictElement(key, cst.Name(str(hint)))
        if elements:
            last = elements[-1]
            new = new.with_changes(comma=last.comma)
            comma = elements[-2].comma if len(elements) > 1 else space
            elements[-1] = last.with_changes(comma=comma)
        elements.append(new)
    return value.with_changes(elements=elements)


def _with_import(module: cst.Module, home: str) -> cst.Module:
    """A file with `from mcp.types import ToolAnnotations`, after its last import of the SDK."""
    line = cst.parse_statement(f"from {home} import {CLASS}\n")
    body = list(module.body)
    places = [index for index, one in enumerate(body) if _imports(one, "")]
    places = [index for index in places if _imports(body[index], "mcp")] or places
    index = places[-1] + 1 if places else int(module.get_docstring() is not None)
    body.insert(index, line)
    return module.with_changes(body=body)


def _imports(statement: cst.CSTNode, root: str) -> bool:
    """Whether a statement imports from a package whose name begins with `root`."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    names = [
        _code(one.module or cst.Name(""))
        if isinstance(one, cst.ImportFrom)
        else _code(one.names[0].name)
        for one in statement.body
        if isinstance(one, cst.Import | cst.ImportFrom)
    ]
    return any(name.startswith(root) for name in names)
