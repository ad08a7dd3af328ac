"""Static evaluation of expressions; the calls in them are judged by their effects."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from sayso.source import known
from sayso.source.judge import Call, Judgement, judge_function, judge_method
from sayso.source.names import Names
from sayso.source.program import FunctionNode
from sayso.source.values import (
    ARGUMENT,
    UNKNOWN,
    Class,
    Function,
    Scope,
    Value,
    joined,
    literal,
    merged,
    place_of,
)

_MEMORY: Final = frozenset({"io.BytesIO", "io.StringIO", "tempfile.SpooledTemporaryFile"})


class Follower(Protocol):
    """Follows calls into functions of the analyzed files."""

    def follow(self, function: Function, call: Call | None) -> Value:
        """Follow a call, and return its value."""
        ...

    def give(self, value: Value) -> None:
        """Record a value that the current function returns."""

    def record(self, judgements: Iterable[Judgement], node: ast.AST, scope: Scope) -> None:
        """Record the judgements of a call."""


class Evaluator:
    """Evaluates expressions; `follower` follows the functions that they call."""

    def __init__(self, names: Names, follower: Follower) -> None:
        self.names = names
        self.follower = follower
        self.evaluators: Mapping[type[ast.AST], Callable[[Any, Scope], Value]] = {
            ast.Attribute: self._attribute,
            ast.Await: self._inner,
            ast.BinOp: self._binop,
            ast.BoolOp: self._boolop,
            ast.Call: self._call,
            ast.Constant: self._constant,
            ast.Dict: self._dict,
            ast.DictComp: self._comprehension,
            ast.FormattedValue: self._inner,
            ast.GeneratorExp: self._comprehension,
            ast.IfExp: self._ifexp,
            ast.JoinedStr: self._joinedstr,
            ast.Lambda: self._lambda,
            ast.List: self._list,
            ast.ListComp: self._comprehension,
            ast.Name: self._name,
            ast.NamedExpr: self._namedexpr,
            ast.Set: self._list,
            ast.SetComp: self._comprehension,
            ast.Starred: self._inner,
            ast.Subscript: self._subscript,
            ast.Tuple: self._list,
            ast.Yield: self._yield,
            ast.YieldFrom: self._yield,
        }

    def value(self, node: ast.AST | None, scope: Scope) -> Value:
        if node is None:
            return UNKNOWN
        return self.evaluators.get(type(node), self._rest)(node, scope)

    def _rest(self, node: ast.AST, scope: Scope) -> Value:
        return _argument_or_unknown(
            [self.value(child, scope) for child in ast.iter_child_nodes(node)]
        )

    def _constant(self, node: ast.Constant, _scope: Scope) -> Value:
        if isinstance(node.value, str):
            return literal(node.value)
        return Value(type=f"builtins.{type(node.value).__name__}")

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        return joined(self.value(part, scope) for part in node.values)

    def _inner(self, node: ast.Await | ast.FormattedValue | ast.Starred, scope: Scope) -> Value:
        return self.value(node.value, scope)

    def _yield(self, node: ast.Yield | ast.YieldFrom, scope: Scope) -> Value:
        """Record the yielded value as a returned one: a context manager yields its result."""
        self.follower.give(self.value(node.value, scope))
        return UNKNOWN

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        return _named(self.names.lookup(node.id, scope), node.id)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        base = self.value(node.value, scope)
        return _named(self.member(base, node.attr), node.attr)

    def member(self, base: Value, name: str) -> Value:
        """Return an attribute of a value; for a property, follow its function."""
        if base.dotted:
            return self.names.named(f"{base.dotted}.{name}")
        if cls := base.instance or base.cls:
            found = self.names.member(cls, name)
            if found.function is None:
                return found
            if not base.instance:
                return Value(function=found.function)
            bound = replace(found.function, holder=base)
            if _is_property(bound.node):
                return self.follower.follow(bound, None)
            return Value(function=bound)
        if base.type == "mcp.CallToolRequestParams":
            return dict(base.table or ()).get(name, ARGUMENT)
        if base.text is not None and name == "value":
            return base
        return _part(base, name)

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope) -> Value:
        found = self.value(node.value, scope)
        scope.names[node.target.id] = found
        return found

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left = self.value(node.left, scope)
        right = self.value(node.right, scope)
        if isinstance(node.op, ast.Div):
            path = Value(text="/", is_whole=True)
            found = joined([left, path, right])
            is_path = known.PATHS & {left.type, right.type} or left.text or right.text
            return replace(found, type="pathlib.Path") if is_path else found
        if isinstance(node.op, ast.Add):
            if left.items is not None and right.items is not None:
                return Value(items=left.items + right.items)
            if left.items:
                return Value(items=(*left.items, UNKNOWN))
            return joined([left, right])
        if isinstance(node.op, ast.Mod) and left.text is not None:
            return replace(left, text=left.text.partition("%")[0], is_whole=False)
        return UNKNOWN

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        self.value(node.test, scope)
        return merged([self.value(node.body, scope), self.value(node.orelse, scope)])

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        return merged([self.value(operand, scope) for operand in node.values])

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        keys = [self.value(key, scope).whole for key in node.keys]
        values = [self.value(value, scope) for value in node.values]
        table = [(key, value) for key, value in zip(keys, values, strict=True) if key is not None]
        return Value(type="builtins.dict", table=tuple(table))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base = self.value(node.value, scope)
        key = self.value(node.slice, scope)
        if base.table is not None and key.whole is not None:
            return dict(base.table).get(key.whole, UNKNOWN)
        if base.cls and key.whole:
            return self.member(base, key.whole)  # a member of an enum, by name
        return ARGUMENT if base.has("argument") else Value(type=base.type)

    def _list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        items: list[Value] = []
        for element in node.elts:
            found = self.value(element, scope)
            if isinstance(element, ast.Starred):
                items += found.items or [UNKNOWN]
            else:
                items.append(found)
        return Value(type="builtins.list", items=tuple(items))

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Value(function=Function(scope.module, node, scope))

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, scope: Scope
    ) -> Value:
        inner = Scope(scope.module, {}, scope)
        for generator in node.generators:
            self.bind(generator.target, element(self.value(generator.iter, inner)), inner)
            for test in generator.ifs:
                self.value(test, inner)
        if isinstance(node, ast.DictComp):
            self.value(node.key, inner)
            self.value(node.value, inner)
        else:
            self.value(node.elt, inner)
        return Value(type="builtins.list")

    def bind(self, target: ast.expr, value: Value, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for index, inner in enumerate(target.elts):
                items = value.items or ()
                part = items[index] if index < len(items) else element(value)
                self.bind(inner, part, scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, UNKNOWN, scope)
        else:
            self.value(target, scope)

    # Calls

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        func = node.func
        if isinstance(func, ast.Attribute):
            base = self.value(func.value, scope)
            call = self._arguments(node, scope)
            if base.dotted or base.instance or base.cls:
                return self._called(self.member(base, func.attr), call, scope)
            return self._method(base, func.attr, call, scope)
        callee = self.value(func, scope)
        return self._called(callee, self._arguments(node, scope), scope)

    def _arguments(self, node: ast.Call, scope: Scope) -> Call:
        args: list[Value] = []
        for argument in node.args:
            found = self.value(argument, scope)
            if isinstance(argument, ast.Starred):
                args += found.items or ()
            else:
                args.append(found)
        pairs = [(keyword.arg, self.value(keyword.value, scope)) for keyword in node.keywords]
        return Call(node, tuple(args), {name: value for name, value in pairs if name})

    def _called(self, callee: Value, call: Call, scope: Scope) -> Value:
        if callee.function:
            return self.follower.follow(callee.function, call)
        if callee.cls:
            return self.made(callee.cls, call)
        if callee.dotted:
            self.follower.record(judge_function(callee.dotted, call), call.node, scope)
            if callee.dotted in known.RUNNERS:
                return self._run_given(call)
            if callee.dotted == "builtins.getattr":
                name = (call.argument_at(1) or UNKNOWN).whole
                if name is None:
                    return UNKNOWN
                return self.member(call.args[0], name)
            return _result(callee.dotted, call)
        unknown = Judgement("unknown", call.words, why="the called function is found at run time")
        self.follower.record([unknown], call.node, scope)
        return UNKNOWN

    def made(self, cls: Class, call: Call) -> Value:
        """Return an instance of an analyzed class, and follow its construction."""
        made = Value(instance=cls)
        for name in ("__init__", "__post_init__"):
            if function := self.names.member(cls, name).function:
                self.follower.follow(replace(function, holder=made), call)
        return made

    def _method(self, base: Value, name: str, call: Call, scope: Scope) -> Value:
        self.follower.record(judge_method(base, name, call), call.node, scope)
        if name in known.RUNNING_METHODS:
            self._run_given(call)
        if base.table is not None and name == "get" and call.args and call.args[0].whole:
            return dict(base.table).get(call.args[0].whole, UNKNOWN)
        if base.type in known.PATHS:
            if name in known.PATH_TO_PATH:
                return replace(joined([base, *call.args]), type=base.type)
            if name == "open":
                return Value(type="file")
            return Value(type="builtins.str")
        if base.text is not None and name in ("format", "strip", "rstrip", "removesuffix"):
            cut = base.text.partition("{")[0] if name == "format" else base.text
            return replace(base, text=cut, is_whole=base.is_whole and cut == base.text)
        if base.type == "statement":
            return base
        if base.type.partition(".")[0] in known.WEB:
            return _part(base, "answer")
        return Value(type=base.type, traits=base.traits & {"argument", "memory"})

    def _run_given(self, call: Call) -> Value:
        """Follow each function in the arguments; it gets the arguments after it."""
        result = UNKNOWN
        for index, argument in enumerate(call.args):
            if argument.function:
                rest = Call(call.node, call.args[index + 1 :], call.keywords)
                result = self.follower.follow(argument.function, rest)
        return call.args[0] if result == UNKNOWN and call.args else result


def _part(base: Value, name: str) -> Value:
    root = base.type.partition(".")[0]
    if root in known.WEB:
        return Value(type=f"{root}.part")
    if base.type in known.PATHS:
        if name in known.PATH_TO_PATH:
            return base
        return Value(type="builtins.str")
    return Value(type=base.type, traits=base.traits)


def element(value: Value) -> Value:
    """Return an item of a collection."""
    if value.items:
        return merged(value.items)
    return _argument_or_unknown([value])


def _argument_or_unknown(values: Iterable[Value]) -> Value:
    return ARGUMENT if any(value.has("argument") for value in values) else UNKNOWN


def _named(value: Value, name: str) -> Value:
    """Add the traits of a name to its value, unless that is an argument or a function."""
    if value.has("argument") or value.function:
        return value
    return value.with_traits(place_of(name))


def _is_property(node: FunctionNode | ast.Lambda) -> bool:
    return not isinstance(node, ast.Lambda) and any(
        ast.unparse(decorator).rpartition(".")[2] in ("property", "cached_property")
        for decorator in node.decorator_list
    )


def _result(dotted: str, call: Call) -> Value:
    first = next(iter(call.args), UNKNOWN)
    if dotted in known.PATHS:
        return replace(joined(call.args), type=dotted.replace("Posix", ""))
    if dotted == "os.path.join":
        return replace(joined(call.args), type="")
    if dotted in known.PASS_ON:
        return first
    if dotted in known.STATEMENTS:
        return Value(type="statement", text=f"{known.STATEMENTS[dotted]} ")
    if dotted == "urllib.request.Request":
        verb = Value(text="POST" if call.argument_at(1, "data") else "GET", is_whole=True)
        return replace(first, type=dotted, items=(call.keywords.get("method", verb),))
    if dotted.partition(".")[0] in known.WEB:
        base = call.argument_at(0, "base_url") or UNKNOWN
        return Value(type=dotted, text=base.text, is_whole=base.is_whole)
    return _made_outside(dotted, first)


def _made_outside(dotted: str, first: Value) -> Value:
    home = dotted.rpartition(".")[0]
    if home in known.PATHS:
        return Value(type=home)
    if dotted in known.OPENERS:
        return Value(type="file")
    if dotted in _MEMORY:
        return Value(type=dotted, traits=frozenset({"memory"}))
    if home == "tempfile":
        return Value(type=dotted, traits=frozenset({"temporary"}))
    if dotted == "sqlite3.connect":
        return Value(type=dotted, traits=first.traits & {"memory"})
    return Value(type=dotted)
