"""Name resolution: in a function, in its file, and in imported files."""

import ast
import builtins
from collections.abc import Callable
from typing import Final

from sayso.source.program import FunctionNode, Module, Project, targets_of
from sayso.source.values import UNKNOWN, Class, Function, Scope, Value, merged

_MAX_DEPTH: Final = 8
"""The maximum depth of annotations and base classes, which may be recursive."""

_BUILTINS: Final = frozenset(dir(builtins))
_WRAPPERS: Final = frozenset({"Annotated", "Final", "ClassVar", "Optional", "Required", "Depends"})
_MANY: Final = frozenset(
    """
    list set dict tuple frozenset List Dict Sequence Iterable Mapping Iterator Generator
    """.split()
)

Evaluate = Callable[[ast.AST | None, Scope], Value]


class Names:
    """Resolves names; `evaluate` returns the value of a constant or a field."""

    def __init__(self, project: Project, evaluate: Evaluate) -> None:
        self.project = project
        self.evaluate = evaluate
        self.cache: dict[tuple[int, str], Value] = {}
        self.classes: dict[int, Class] = {}

    def lookup(self, name: str, scope: Scope) -> Value:
        inner: Scope | None = scope
        while inner is not None:
            if name in inner.names:
                return inner.names[name]
            inner = inner.parent
        return self.in_module(scope.module, name)

    def in_module(self, module: Module, name: str) -> Value:
        key = (id(module), name)
        if key not in self.cache:
            self.cache[key] = UNKNOWN  # for a recursive definition
            self.cache[key] = self._found(module, name)
        return self.cache[key]

    def named(self, dotted: str) -> Value:
        if place := self.project.find(dotted):
            found = self.in_module(*place)
            if found != UNKNOWN or not self.project.is_module(dotted):
                return found
        return Value(dotted=dotted)

    def class_of(self, module: Module, node: ast.ClassDef, scope: Scope) -> Class:
        """Return the unique object for a class."""
        return self.classes.setdefault(id(node), Class(module, node, scope))

    def member(self, cls: Class, name: str, depth: int = 0) -> Value:
        scope = cls.scope
        for node in cls.node.body:
            if isinstance(node, FunctionNode) and node.name == name:
                return Value(function=Function(cls.module, node, scope))
        if found := self._field(cls, name):
            return found
        for base in cls.node.bases:
            inherited = self.evaluate(base, scope).cls
            if inherited and depth < _MAX_DEPTH:
                found = self.member(inherited, name, depth + 1)
                if found != UNKNOWN:
                    return found
        return UNKNOWN

    def annotation(self, node: ast.AST | None, scope: Scope, depth: int = 0) -> Value:
        if node is None or depth > _MAX_DEPTH:
            return UNKNOWN
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                inner = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError):
                return UNKNOWN
            return self.annotation(inner, scope, depth + 1)
        if isinstance(node, ast.BinOp):
            sides = [self.annotation(side, scope, depth + 1) for side in (node.left, node.right)]
            return merged(sides)
        if isinstance(node, ast.Subscript):
            return self._subscripted(node, scope, depth)
        if isinstance(node, ast.Constant) and node.value is None:
            return Value(type="builtins.NoneType")
        found = self.evaluate(node, scope)
        if found.cls:
            return Value(instance=found.cls)
        return Value(type=found.dotted)

    def _subscripted(self, node: ast.Subscript, scope: Scope, depth: int) -> Value:
        outer = self.evaluate(node.value, scope).dotted.rpartition(".")[2]
        inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if outer in _WRAPPERS:
            return self.annotation(inner, scope, depth + 1)
        if outer == "Union" and isinstance(node.slice, ast.Tuple):
            sides = [self.annotation(element, scope, depth + 1) for element in node.slice.elts]
            return merged(sides)
        if outer in _MANY:
            return Value(type=f"builtins.{outer.lower()}")
        return self.annotation(node.value, scope, depth + 1)

    def _field(self, cls: Class, name: str) -> Value | None:
        """Return the value of a field from its assignments and annotations, or `None`."""
        key = (id(cls), name)
        if key in self.cache:
            return self.cache[key]
        self.cache[key] = UNKNOWN
        found = [
            self._assigned(node, cls)
            for node in ast.walk(cls.node)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and any(_is_field(target, name, cls.node) for target in targets_of(node))
        ]
        self.cache[key] = merged(found)
        if not found:
            return None
        return self.cache[key]

    def _assigned(self, node: ast.Assign | ast.AnnAssign, cls: Class) -> Value:
        scope = self._inside(node, cls)
        if isinstance(node, ast.AnnAssign):
            return self.annotation(node.annotation, scope)
        return self.evaluate(node.value, scope)

    def _inside(self, node: ast.AST, cls: Class) -> Scope:
        """Return the scope of the method around an assignment, with annotated parameters."""
        for method in cls.node.body:
            if isinstance(method, FunctionNode) and any(
                inner is node for inner in ast.walk(method)
            ):
                names = {
                    parameter.arg: self.annotation(parameter.annotation, cls.scope)
                    for parameter in params(method)
                }
                return Scope(cls.module, names, cls.scope)
        return cls.scope

    def _found(self, module: Module, name: str) -> Value:
        scope = Scope(module, {})
        if name in module.functions:
            return Value(function=Function(module, module.functions[name], scope))
        if name in module.classes:
            return Value(cls=self.class_of(module, module.classes[name], scope))
        if name in module.imports:
            return self.named(module.imports[name])
        if name in module.constants:
            return self.evaluate(module.constants[name], scope)
        if name in _BUILTINS:
            return Value(dotted=f"builtins.{name}")
        return UNKNOWN


def params(node: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """Return the named parameters of a function, in order."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _is_field(target: ast.expr, name: str, cls: ast.ClassDef) -> bool:
    if isinstance(target, ast.Attribute):
        return (
            target.attr == name
            and isinstance(target.value, ast.Name)
            and target.value.id in ("self", "cls")
        )
    in_body = any(
        field is target
        for node in cls.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for field in targets_of(node)
    )
    return in_body and isinstance(target, ast.Name) and target.id == name
