"""The walker: follows a handler through the analyzed files, without running anything.

The walker takes both branches unless the test is known. It takes each loop once, and each function
once per set of arguments.
"""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sayso.source import known
from sayso.source.definitions import Path
from sayso.source.evaluate import Evaluator, element
from sayso.source.judge import Call, Judgement
from sayso.source.names import Names, params
from sayso.source.program import FunctionNode, Project
from sayso.source.report import Effect, Kind, Note
from sayso.source.values import (
    UNKNOWN,
    Function,
    Scope,
    Value,
    contains,
    either,
    merged,
    place_of,
)

_MAX_DEPTH: Final = 24
_MAX_CALLS: Final = 3_000
_KEEPING: Final = frozenset(
    {Kind.WRITES_FILE, Kind.WRITES_ROWS, Kind.DELETES_FILE, Kind.DELETES_ROWS}
)
_NAME: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

Branch = Callable[[], bool]
_Effects = dict[tuple[object, ...], Effect]
_Notes = dict[tuple[str, int, str], Note]


@dataclass(slots=True)
class Trace:
    """The effects and notes of one handler."""

    effects: _Effects = field(default_factory=_Effects)
    unknown: _Notes = field(default_factory=_Notes)
    ignored: _Notes = field(default_factory=_Notes)

    def add(self, judged: Judgement, file: str, line: int, chain: tuple[str, ...]) -> None:
        """Record the judgement of a call, once per place."""
        if judged.verdict == "effect":
            key = (judged.kind, file, line, judged.what)
            effect = Effect(
                judged.kind, judged.what, file, line, chain, judged.verb, judged.is_open
            )
            if key not in self.effects or effect.is_open:
                self.effects[key] = effect
            return
        notes = self.unknown if judged.verdict == "unknown" else self.ignored
        notes.setdefault((file, line, judged.what), Note(judged.what, judged.why, file, line))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A call of a function: node, object, arguments, and whether effects are not recorded."""

    node: int
    holder: Value | None
    arguments: object
    is_muted: bool


class Walker:
    """Follows handlers through a project; `Evaluator` calls it back as a `Follower`."""

    def __init__(self, project: Project) -> None:
        self.names = Names(project, self._quietly)
        self.evaluator = Evaluator(self.names, self)
        self.done: dict[_Entry, Value] = {}
        self.begin()
        self.branches: Mapping[type[ast.stmt], Callable[[Any, Scope], bool]] = {
            ast.AnnAssign: self._annotate,
            ast.Assign: self._assign,
            ast.AsyncFor: self._for,
            ast.AsyncFunctionDef: self._define,
            ast.AsyncWith: self._with,
            ast.AugAssign: self._augment,
            ast.ClassDef: self._define_class,
            ast.For: self._for,
            ast.FunctionDef: self._define,
            ast.If: self._if,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.Match: self._match,
            ast.Return: self._return,
            ast.Try: self._try,
            ast.While: self._while,
            ast.With: self._with,
        }

    def begin(self) -> None:
        """Start a new handler; resolved names are kept."""
        self.trace = Trace()
        self.running: list[Function] = []
        self.returned: list[Value] = []
        self.muted = self.followed = 0
        self.done = {key: found for key, found in self.done.items() if key.is_muted}

    def scope_of(self, path: Path, scope: Scope) -> Scope:
        held: Value | None = None
        for node in path:
            if isinstance(node, ast.ClassDef):
                held = Value(instance=self.names.class_of(scope.module, node, scope))
                continue
            scope = self._entered(Function(scope.module, node, scope, held), None)
            held = None
            self.muted += 1
            self.run(node.body, scope)
            self.muted -= 1
        return scope

    def handle(self, function: Function, given: dict[str, Value] | None = None) -> None:
        """Follow a handler: its body, and its decorators in the analyzed files."""
        scope = self._entered(function, None)
        for name in scope.names:
            scope.names[name] = scope.names[name].with_traits({"argument"})
        scope.names.update(given or {})
        self.running.append(function)
        if isinstance(function.node, FunctionNode):
            self.run(function.node.body, scope)
            for decorator in function.node.decorator_list:
                self._decorated(decorator, function)
        else:
            self.evaluator.value(function.node.body, scope)
        self.running.pop()

    def _decorated(self, node: ast.expr, function: Function) -> None:
        decorator = self._quietly(node, function.scope).function
        if decorator is None:
            return
        call = Call(ast.Call(node, [], []), (Value(function=function),), {})
        if wrapper := self.follow(decorator, call).function:
            self.follow(wrapper, None)

    # Follower

    def follow(self, function: Function, call: Call | None) -> Value:
        """Follow a function once per set of arguments, and return its value."""
        arguments = (call.args, tuple(call.keywords.items())) if call else None
        key = _Entry(id(function.node), function.holder, arguments, bool(self.muted))
        if key in self.done:
            return self.done[key]
        self.done[key] = UNKNOWN
        is_again = any(running.node is function.node for running in self.running)
        self.followed += 1
        if is_again or len(self.running) > _MAX_DEPTH or self.followed > _MAX_CALLS:
            return UNKNOWN
        self.running.append(function)
        before = self.returned
        self.returned = []
        scope = self._entered(function, call)
        if isinstance(function.node, FunctionNode):
            self.run(function.node.body, scope)
        else:
            self.returned.append(self.evaluator.value(function.node.body, scope))
        self.done[key] = merged(self.returned)
        self.returned = before
        self.running.pop()
        return self.done[key]

    def give(self, value: Value) -> None:
        self.returned.append(value)

    def record(self, judgements: Iterable[Judgement], node: ast.AST, scope: Scope) -> None:
        if self.muted:
            return
        chain = tuple(function.name for function in self.running)
        line = getattr(node, "lineno", 0)
        for judged in judgements:
            self.trace.add(_by_names(judged, chain), scope.module.file, line, chain)

    def _quietly(self, node: ast.AST | None, scope: Scope) -> Value:
        """Return the value of a constant, without attributing its calls to the handler."""
        self.muted += 1
        try:
            return self.evaluator.value(node, scope)
        finally:
            self.muted -= 1

    def _entered(self, function: Function, call: Call | None) -> Scope:
        scope = Scope(function.module, {}, function.scope)
        names = params(function.node)
        if function.holder and names:
            scope.names[names[0].arg] = function.holder
            names = names[1:]
        for index, parameter in enumerate(names):
            annotated = self.names.annotation(parameter.annotation, function.scope)
            argument = call.argument_at(index, parameter.arg) if call else None
            scope.names[parameter.arg] = _refined(argument, annotated)
        return scope

    # Statements

    def run(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        """Follow statements; return whether the code after them is unreachable."""
        return any(self._statement(statement, scope) for statement in body)

    def _statement(self, node: ast.stmt, scope: Scope) -> bool:
        follow_branch = self.branches.get(type(node))
        if follow_branch is not None:
            return follow_branch(node, scope)
        for child in ast.iter_child_nodes(node):
            self.evaluator.value(child, scope)
        return isinstance(node, ast.Raise | ast.Continue | ast.Break)

    def _define(self, node: FunctionNode, scope: Scope) -> bool:
        scope.names[node.name] = Value(function=Function(scope.module, node, scope))
        return False

    def _define_class(self, node: ast.ClassDef, scope: Scope) -> bool:
        scope.names[node.name] = Value(cls=self.names.class_of(scope.module, node, scope))
        return False

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> bool:
        for alias in node.names:
            name = (alias.asname or alias.name).partition(".")[0]
            scope.names[name] = self.names.in_module(scope.module, name)
        return False

    def _return(self, node: ast.Return, scope: Scope) -> bool:
        self.give(self.evaluator.value(node.value, scope))
        return True

    def _assign(self, node: ast.Assign, scope: Scope) -> bool:
        value = self.evaluator.value(node.value, scope)
        for target in node.targets:
            self.evaluator.bind(target, value, scope)
        return False

    def _annotate(self, node: ast.AnnAssign, scope: Scope) -> bool:
        value = self.evaluator.value(node.value, scope)
        annotated = self.names.annotation(node.annotation, scope)
        self.evaluator.bind(node.target, _refined(value, annotated), scope)
        return False

    def _augment(self, node: ast.AugAssign, scope: Scope) -> bool:
        before = self.evaluator.value(node.target, scope)
        self.evaluator.value(node.value, scope)
        self.evaluator.bind(node.target, replace(before, is_whole=False), scope)
        return False

    def _if(self, node: ast.If, scope: Scope) -> bool:
        holds = self._test(node.test, scope)
        if holds is None:
            return self._branches(
                scope, [self._branch(node.body, scope), self._branch(node.orelse, scope)]
            )
        return self.run(node.body if holds else node.orelse, scope)

    def _test(self, node: ast.expr, scope: Scope) -> bool | None:
        """Return the result of a comparison of known texts, else `None`."""
        self.evaluator.value(node, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return _negated(self._test(node.operand, scope))
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        left = self.evaluator.value(node.left, scope).whole
        right = self.evaluator.value(node.comparators[0], scope)
        if left is None:
            return None
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            holds = contains(right, left)
        else:
            holds = None if right.whole is None else left == right.whole
        return _negated(holds) if isinstance(node.ops[0], ast.NotEq | ast.NotIn) else holds

    def _match(self, node: ast.Match, scope: Scope) -> bool:
        subject = self.evaluator.value(node.subject, scope)
        branches: list[Branch] = []
        for case in node.cases:
            fits = self._fits(case, subject, scope)
            if fits is not False:
                branches.append(self._branch(case.body, scope))
            if fits:
                break
        else:
            branches.append(lambda: False)
        return self._branches(scope, branches)

    def _branch(self, body: Sequence[ast.stmt], scope: Scope) -> Branch:
        return lambda: self.run(body, scope)

    def _fits(self, case: ast.match_case, subject: Value, scope: Scope) -> bool | None:
        """Return whether a case matches, or `None` if that is unknown."""
        self.evaluator.value(case.guard, scope)
        if case.guard is not None:
            return None
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
            return True
        patterns = [case.pattern]
        if isinstance(case.pattern, ast.MatchOr):
            patterns = case.pattern.patterns
        texts = [self._text_of(pattern, scope) for pattern in patterns]
        if subject.whole is None or None in texts:
            return None
        return subject.whole in texts

    def _text_of(self, pattern: ast.pattern, scope: Scope) -> str | None:
        if isinstance(pattern, ast.MatchValue):
            return self.evaluator.value(pattern.value, scope).whole
        return None

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
        items = self.evaluator.value(node.iter, scope)
        self.evaluator.bind(node.target, element(items), scope)
        self._branches(scope, [self._branch(node.body, scope), lambda: False])
        return self.run(node.orelse, scope)

    def _while(self, node: ast.While, scope: Scope) -> bool:
        self.evaluator.value(node.test, scope)
        self._branches(scope, [self._branch(node.body, scope), lambda: False])
        return self.run(node.orelse, scope)

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
        for item in node.items:
            context = self.evaluator.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.evaluator.bind(item.optional_vars, self._entering(context), scope)
        return self.run(node.body, scope)

    def _entering(self, context: Value) -> Value:
        """Return the value of `with … as`: the result of `__enter__`, or the object itself."""
        if context.instance:
            for name in ("__enter__", "__aenter__"):
                if function := self.names.member(context.instance, name).function:
                    entered = self.follow(replace(function, holder=context), None)
                    return context if entered == UNKNOWN else entered
        return context

    def _try(self, node: ast.Try, scope: Scope) -> bool:
        """Follow the body and each handler as alternatives."""
        tried = self._branch([*node.body, *node.orelse], scope)
        branches = [tried, *(self._branch(handler.body, scope) for handler in node.handlers)]
        is_over = self._branches(scope, branches)
        return self.run(node.finalbody, scope) or is_over

    def _branches(self, scope: Scope, branches: Sequence[Branch]) -> bool:
        """Follow alternatives; merge the names of those after which the code goes on.

        Return whether none goes on.
        """
        start = dict(scope.names)
        ends: list[dict[str, Value]] = []
        for follow_branch in branches:
            scope.names = dict(start)
            if not follow_branch():
                ends.append(scope.names)
        if not ends:
            scope.names = start
            return True
        names = {name for end in ends for name in end}
        scope.names = {name: either([end.get(name) for end in ends]) for name in names}
        return False


def _by_names(judged: Judgement, chain: tuple[str, ...]) -> Judgement:
    """Weaken an effect if the calling functions' names suggest a query, or a cache."""
    if judged.verdict != "effect":
        return judged
    if judged.verb == "POST":
        words = {word.lower() for name in chain for word in _NAME.findall(name)}
        if words.isdisjoint(known.ASKING_NAMES):
            return judged
        return replace(
            judged, verdict="unknown", why="by the function's name, the POST may only query"
        )
    if judged.kind in _KEEPING and any("own" in place_of(name) for name in chain[1:]):
        why = "by the function's name, the target is the program's own cache, log or lock"
        return replace(judged, verdict="ignored", why=why)
    return judged


def _refined(value: Value | None, annotated: Value) -> Value:
    if value is None or value == UNKNOWN:
        return annotated
    if value.is_known or not annotated.is_known:
        return value
    return replace(value, type=annotated.type, instance=annotated.instance)


def _negated(holds: bool | None) -> bool | None:  # noqa: FBT001 - the result of a test
    return None if holds is None else not holds
