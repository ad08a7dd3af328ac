"""Parsed Python files and the names that they define. Nothing is imported."""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from sayso.errors import ConfigError

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_MAX_DEPTH: Final = 20


@dataclass(frozen=True, slots=True)
class Module:
    """One file; `imports` maps each imported name to its dotted name."""

    file: str
    tree: ast.Module
    imports: Mapping[str, str]
    constants: Mapping[str, ast.expr] = field(repr=False)
    functions: Mapping[str, FunctionNode] = field(repr=False)
    classes: Mapping[str, ast.ClassDef] = field(repr=False)

    def dotted(self, node: ast.AST | None) -> str:
        """Resolve a name or an attribute to its full dotted name, such as `pathlib.Path`.

        A name that is not imported is returned unchanged. For other nodes the result is empty.
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
        """Return the text of a literal, a constant of the file, or a member of an enum."""
        if depth > _MAX_DEPTH:
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
    """The analyzed files of one server."""

    modules: tuple[Module, ...]
    _by_last: Mapping[str, list[tuple[tuple[str, ...], Module]]] = field(repr=False)
    _depth: int = 0

    def find(self, dotted: str) -> tuple[Module, str] | None:
        """Split a dotted name into the file that defines it and the name in that file, if found."""
        home, _, name = dotted.rpartition(".")
        module = self._module(tuple(home.split(".")))
        return module and (module, name)

    def is_module(self, dotted: str) -> bool:
        return self._module(tuple(dotted.split("."))) is not None

    def _module(self, parts: tuple[str, ...]) -> Module | None:
        """Return the file of a module name. A name of one word must be in the top folder."""
        if parts[0] in sys.stdlib_module_names:
            return None
        for file_parts, module in self._by_last.get(parts[-1], ()):
            is_outer = len(parts) > 1 or len(file_parts) == self._depth + 1
            if file_parts[-len(parts) :] == parts and is_outer:
                return module
        return None


def make_project(modules: Iterable[Module]) -> Project:
    """Return a project of these files."""
    files = tuple(modules)
    by_last: dict[str, list[tuple[tuple[str, ...], Module]]] = {}
    for module in files:
        parts = parts_of(module.file)
        by_last.setdefault(parts[-1], []).append((parts, module))
    depth = min((len(parts_of(module.file)) - 1 for module in files), default=0)
    return Project(files, by_last, depth)


def read_module(file: str, text: str) -> Module:
    """Parse one file. Raises `ConfigError` for invalid Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        where = file
        if error.lineno:
            where = f"{file}:{error.lineno}"
        raise ConfigError(f"invalid Python: {error.msg}", where=where) from error
    except (ValueError, RecursionError, MemoryError) as error:
        what = "invalid Python: nested too deeply, or contains a null byte"
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
    """Return the parts of a file's module name, starting with the outermost folder."""
    path = PurePath(file).with_suffix("")
    parts = tuple(part for part in path.parts if part not in (path.anchor, "..", "."))
    if len(parts) > 1 and parts[-1] == "__init__":
        return parts[:-1]
    return parts


def targets_of(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    """Return the targets of an assignment."""
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
