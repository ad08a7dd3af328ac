"""CEL expressions: checked when the policy is loaded, bounded when they are evaluated.

The cost of an expression is bounded. Its length is limited, loops (`all`, `exists`, `map` and
similar) are refused, and regular expressions are RE2's. The answer is `None` (unknown) if the
arguments are too large, the expression fails, or its result is neither `true` nor `false`. An
unknown answer has the stricter effect (see `Condition`).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Protocol, cast

from sayso.extras import install_command
from sayso.intent import HINT_NAMES
from sayso.policy.conditions import Condition, Reads
from sayso.policy.format import LONGEST_EXPRESSION
from sayso.policy.situation import Situation

_MOST_VALUES: Final = 10_000
_MOST_CHARACTERS: Final = 100_000
_DEEPEST: Final = 100
_ANSWERS: Final = {True: "true", False: "false", None: "unknown"}

_TEXT: Final = (
    r'[rR]?[bB]?[rR]?(?:"""(?:[^\\]|\\.)*?"""|' + r"'''(?:[^\\]|\\.)*?'''|"
    r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*')"
)
_SKIPPED: Final = re.compile(rf"{_TEXT}|//[^\n]*", re.DOTALL)
_LOOP: Final = re.compile(r"\.\s*(all|exists|exists_one|existsOne|map|filter)\s*\(")
_PLACE: Final = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): ([^\n]*)")
_MACHINE_WORDS: Final = re.compile(r" \(in container ''\)|\s*\[[A-Z_]+\]$|^[A-Z_]+: ")


class ExpressionError(Exception):
    """An invalid expression; `line` is counted from 0 within the expression."""

    def __init__(self, what: str, line: int = 0, fix: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line
        self.fix = fix


class _Compiled(Protocol):
    def eval(self, *, data: Mapping[str, Any]) -> Any: ...


def expression_condition(text: str, *, is_listing: bool = False) -> Condition:
    """Return the condition that the CEL expression `text` is true. Raises `ExpressionError`.

    With `is_listing`, the expression may use only what is known before a call: no arguments.
    """
    compiled = _compile(text, is_listing=is_listing)

    def test(situation: Situation) -> bool | None:
        return _evaluate(compiled, situation, is_listing=is_listing)

    words = " ".join(text.split())
    return Condition(
        "expression",
        f"true: {words}",
        test,
        lambda situation: _ANSWERS[test(situation)],
        is_of_call=not is_listing,
        reads=Reads.TOOL_AND_CALLER if is_listing else Reads.CALL,
    )


def _compile(text: str, *, is_listing: bool) -> _Compiled:
    if len(text) > LONGEST_EXPRESSION:
        raise ExpressionError(f"the expression is longer than {LONGEST_EXPRESSION} characters")
    bare = _SKIPPED.sub(_blank, text)
    if loop := _LOOP.search(bare):
        what = f"“{loop[1]}” is a loop, which expressions do not support"
        fix = "Use a condition on arguments with a path such as items.*.id."
        raise ExpressionError(what, bare.count("\n", 0, loop.start(1)), fix)
    environment = _environment(is_listing=is_listing)
    try:
        compiled = environment.compile(text)
    except Exception as error:
        raise _explained(str(error)) from error
    if (name := compiled.return_type().name()) != "BOOL":
        what = f"the expression must return true or false, not {name.lower()}"
        raise ExpressionError(what, fix="Compare it with a value.")
    return compiled


def _blank(match: re.Match[str]) -> str:
    """Return a blank, to keep words apart, and all newlines, to keep line numbers correct."""
    return " " + "\n" * match[0].count("\n")


def _explained(message: str) -> ExpressionError:
    if match := _PLACE.search(message):
        line = max(int(match[1]) - 1, 0)
        return ExpressionError(f"CEL: {_MACHINE_WORDS.sub('', match[3])}", line)
    return ExpressionError(f"CEL: {_MACHINE_WORDS.sub('', message.splitlines()[0])}")


@cache
def _environment(*, is_listing: bool) -> Any:
    try:
        from cel_expr_python import cel  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs] - an optional package; pyright does not find its types
    except ImportError as error:
        fix = f"Use typed conditions, or install CEL: {install_command('cel')}."
        raise ExpressionError("expressions need CEL, which is not installed", fix=fix) from error
    kinds = cel.Type
    names = {
        **dict.fromkeys(("server", "tool", "level", "category"), kinds.STRING),
        **dict.fromkeys(("subject", "tenant", "client"), kinds.STRING),
        **dict.fromkeys(HINT_NAMES, kinds.BOOL),
        **dict.fromkeys(("tags", "scopes", "roles"), kinds.List(kinds.STRING)),
        "sources": kinds.Map(kinds.STRING, kinds.STRING),
    }
    if not is_listing:
        names |= {
            "arguments": kinds.Map(kinds.STRING, kinds.DYN),
            "first_use": kinds.BOOL,
            "targets": kinds.INT,
        }
    return cel.NewEnv(variables=names)


def _evaluate(compiled: _Compiled, situation: Situation, *, is_listing: bool) -> bool | None:
    if not is_listing and not _is_small(situation.arguments):
        return None
    try:
        value = compiled.eval(data=_names(situation, is_listing=is_listing))
        answer = value.value()
    except Exception:  # noqa: BLE001 - any failure counts as unknown
        return None
    return answer if isinstance(answer, bool) else None


def _names(situation: Situation, *, is_listing: bool) -> dict[str, Any]:
    facts = situation.facts
    caller = situation.principal
    names: dict[str, Any] = {
        "server": facts.server,
        "tool": facts.tool,
        "level": str(facts.intent.level),
        "category": facts.category or "",
        "subject": caller.subject,
        "tenant": caller.tenant or "",
        "client": caller.client,
        "tags": sorted(facts.tags),
        "scopes": sorted(caller.scopes or ()),
        "roles": sorted(caller.roles),
        "sources": {name: str(facts.intent[name].source) for name in HINT_NAMES},
        **{name: facts.intent[name].value for name in HINT_NAMES},
    }
    if not is_listing:
        names["arguments"] = situation.arguments
        names["first_use"] = situation.is_first_use
        # Without a plan, `targets` is undefined, so an expression that uses it is unknown.
        if situation.targets is not None:
            names["targets"] = situation.targets
    return names


def _is_small(arguments: object) -> bool:
    characters = 0
    todo: list[tuple[object, int]] = [(arguments, 0)]
    for value, depth in todo:  # grows during iteration
        inner: list[object] = []
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, Mapping):
            table = cast("Mapping[str, object]", value)
            characters += sum(map(len, table))
            inner = list(table.values())
        elif isinstance(value, list):
            inner = cast("list[object]", value)
        if depth > _DEEPEST or len(todo) + len(inner) > _MOST_VALUES:
            return False
        if characters > _MOST_CHARACTERS:
            return False
        todo.extend((part, depth + 1) for part in inner)
    return True
