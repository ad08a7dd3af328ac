"""Python files as they are read here: parsed, never imported, with what their names stand for."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from sayso.errors import ConfigError

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_DEEPEST: Final = 20


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `imports` has the dotted name behind each name that an import made."""

    file: str
    tree: ast.Module
    imports: Mapping[str, str]
    constants: Mapping[str, ast.expr] = field(repr=False)
    functions: Mapping[str, FunctionNode] = field(repr=False)
    classes: Mapping[str, ast.ClassDef] = field(repr=False)

    def dotted(self, node: ast.AST | None) -> str:
        """The full name of what `node` names, as far as imports tell: `pathlib.Path`.

        A name that no import has made stands as it is; what is no name gives nothing.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    def text(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """The text that `node` is: a literal, a constant of the file, or a member of an enum."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            return self.text(self.constants.get(node.id), depth + 1)
        if isinstance(node, ast.Attribute):
            inner = node.value if node.attr == "value" else node
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
                member = _members(self.classes.get(inner.value.id)).get(inner.attr)
                return self.text(member, depth + 1)
        return None


def read_module(file: str, text: str) -> Module:
    """Parse one file. Raises `ConfigError` for what is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else "too deep, or holds a null byte"
        raise ConfigError(f"this is not Python: {said}", where=f"{file}{line}") from error
    return Module(
        file,
        tree,
        dict(_imports(tree, _package(file))),
        dict(_constants(tree.body)),
        {node.name: node for node in tree.body if isinstance(node, FunctionNode)},
        {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)},
    )


def parts_of(file: str) -> tuple[str, ...]:
    """The dotted name that a file may be imported by, from its outermost folder on."""
    path = PurePath(file).with_suffix("")
    parts = tuple(part for part in path.parts if part not in (path.anchor, "..", "."))
    return parts[:-1] if parts[1:] and parts[-1] == "__init__" else parts


def _package(file: str) -> tuple[str, ...]:
    parts = parts_of(file)
    return parts if PurePath(file).stem == "__init__" else parts[:-1]


def _imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (head, head)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join([*base, *((node.module or "").split(".") if node.module else ())])
            for alias in node.names:
                yield alias.asname or alias.name, f"{start}.{alias.name}"


def _constants(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
        elif isinstance(node, ast.Try | ast.If | ast.With):
            yield from _constants(node.body)


def _members(node: ast.ClassDef | None) -> dict[str, ast.expr]:
    return dict(_constants(node.body)) if node else {}
