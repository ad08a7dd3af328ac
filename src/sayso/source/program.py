"""Python files as they are read here: parsed, never imported, with what their names stand for."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
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
                holder = self.classes.get(inner.value.id)
                members = dict(_constants(holder.body)) if holder else {}
                return self.text(members.get(inner.attr), depth + 1)
        return None


@dataclass(frozen=True, slots=True)
class Project:
    """Some files of one server."""

    modules: tuple[Module, ...]
    _by_last: Mapping[str, list[tuple[tuple[str, ...], Module]]] = field(repr=False)
    _depth: int = 0

    def find(self, dotted: str) -> tuple[Module, str] | None:
        """The file that a dotted name leads into, and the name in it."""
        home, _, name = dotted.rpartition(".")
        module = self._module(tuple(home.split(".")))
        return module and (module, name)

    def is_module(self, dotted: str) -> bool:
        """Whether a dotted name is that of a file."""
        return self._module(tuple(dotted.split("."))) is not None

    def _module(self, parts: tuple[str, ...]) -> Module | None:
        """The file that is imported as this; by one word, only one in the outermost folder."""
        if parts[0] in sys.stdlib_module_names:
            return None
        for known, module in self._by_last.get(parts[-1], ()):
            is_outer = len(parts) > 1 or len(known) == self._depth + 1
            if known[-len(parts) :] == parts and is_outer:
                return module
        return None


def make_project(modules: Iterable[Module]) -> Project:
    """A project of these files."""
    found = tuple(modules)
    by_last: dict[str, list[tuple[tuple[str, ...], Module]]] = {}
    for module in found:
        parts = parts_of(module.file)
        by_last.setdefault(parts[-1], []).append((parts, module))
    return Project(
        found, by_last, min((len(parts_of(module.file)) - 1 for module in found), default=0)
    )


def read_module(file: str, text: str) -> Module:
    """Parse one file. Raises `ConfigError` for what is not Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        where = file
        if error.lineno:
            where = f"{file}:{error.lineno}"
        raise ConfigError(f"this is not Python: {error.msg}", where=where) from error
    except (ValueError, RecursionError, MemoryError) as error:
        what = "this is not Python: too deep, or holds a null byte"
        raise ConfigError(what, where=file) from error
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
    if len(parts) > 1 and parts[-1] == "__init__":
        return parts[:-1]
    return parts


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return what an assignment assigns to."""
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _package(file: str) -> tuple[str, ...]:
    parts = parts_of(file)
    if PurePath(file).stem == "__init__":
        return parts
    return parts[:-1]


def _imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                head = alias.name.partition(".")[0]
                if alias.asname:
                    yield alias.asname, alias.name
                else:
                    yield head, head
        elif isinstance(node, ast.ImportFrom):
            start: list[str] = []
            if node.level:
                start += package[: len(package) - node.level + 1]
            start += filter(None, [node.module])
            for alias in node.names:
                yield alias.asname or alias.name, f"{'.'.join(start)}.{alias.name}"


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
