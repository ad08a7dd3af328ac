"""Builds one rule, and checks what the format cannot check."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from sayso.policy.arguments import argument_conditions, meta_conditions
from sayso.policy.conditions import Condition, facts_conditions, facts_tests, principal_conditions
from sayso.policy.decision import Effect, Reviewers
from sayso.policy.expression import ExpressionError, expression_condition
from sayso.policy.format import DEFAULT_WITHIN
from sayso.policy.rule import Limits, Rule
from sayso.policy.situation import Past, Situation
from sayso.settings import Document, Path, seconds

_OF_QUESTIONS: Final = ("require", "reviewers", "expires", "grant")
_OF_CALLS: Final = ("arguments", "meta", "after")

Roles = Mapping[str, frozenset[str]]


def build_rule(
    document: Document, path: Path, table: Mapping[str, Any], roles: Roles
) -> Rule | None:
    """Build the rule of a checked `table`. If it has a mistake, report it and return `None`."""
    effect = Effect(table.get("effect", Effect.CONFIRM))
    _check_effect(document, path, table, effect)
    _check_reviewers(document, path, table)
    when = _conditions(document, (*path, "when"), table, effect, roles)
    unless = _conditions(document, (*path, "unless"), table, effect, roles)
    if not document.is_sound(*path):
        return None
    name = table["name"]
    return Rule(
        name=name,
        effect=effect,
        reason=table.get("reason", f"the rule “{name}” matches"),
        line=document.line_of(path),
        when=when,
        unless=unless,
        require=table.get("require"),
        reviewers=_reviewers(table.get("reviewers")),
        expires=seconds(table["expires"]) if "expires" in table else None,
        grant=table.get("grant"),
        limits=build_limits(table["limits"]) if "limits" in table else None,
    )


def build_limits(table: Mapping[str, Any]) -> Limits:
    """Build limits, either for all calls together or by level."""
    calls: Any = table.get("calls_per_minute")
    if isinstance(calls, int):
        return Limits(calls=calls, targets=table.get("targets"))
    return Limits(by_level=calls or {}, targets=table.get("targets"))


def _check_effect(document: Document, path: Path, table: Mapping[str, Any], effect: Effect) -> None:
    if effect is not Effect.CONFIRM:
        for key in _OF_QUESTIONS:
            if key in table:
                what = f'“{key}” needs effect = "confirm"; this rule asks no question'
                fix = f'Write effect = "confirm", or remove “{key}”.'
                document.report((*path, key), what, fix)
    if "limits" in table and effect in (Effect.DENY, Effect.HIDE):
        what = f'“limits” has no effect in a rule with effect = "{effect}"'
        document.report((*path, "limits"), what, "Remove it.")
    if effect is not Effect.HIDE:
        return
    for part in ("when", "unless"):
        for key in _OF_CALLS:
            if key in table.get(part, {}):
                what = f"a rule that hides cannot use “{key}”: a tool is hidden before any call"
                document.report((*path, part, key), what, 'Write effect = "deny" instead.')


def _check_reviewers(document: Document, path: Path, table: Mapping[str, Any]) -> None:
    reviewers = _reviewers(table.get("reviewers"))
    if reviewers is None or reviewers.roles or not reviewers.subjects:
        return
    named = len(reviewers.subjects)
    if reviewers.count > named:
        what = f"{reviewers.count} people must approve, but only {named} are named"
        document.report((*path, "reviewers"), what, "Name more people, or lower “count”.")


def _reviewers(value: Any) -> Reviewers | None:
    if value is None:
        return None
    if isinstance(value, int):
        return Reviewers(value)
    return Reviewers(value.get("count", 1), value.get("subjects", ()), value.get("roles", ()))


def _conditions(
    document: Document, path: Path, rule: Mapping[str, Any], effect: Effect, roles: Roles
) -> tuple[Condition, ...]:
    """Return the conditions of `when` or `unless`, the cheapest first."""
    part: Literal["when", "unless"] = "when" if path[-1] == "when" else "unless"
    table = rule.get(part, {})
    is_loosening = (effect is Effect.ALLOW) is (part == "when")
    conditions = [*facts_conditions(table), *principal_conditions(table, roles)]
    if "arguments" in table:
        _check_arguments(document, (*path, "arguments"), table["arguments"])
        conditions += argument_conditions(table["arguments"], is_loosening=is_loosening)
    if "meta" in table:
        conditions += meta_conditions(table["meta"], is_loosening=is_loosening)
    if "after" in table:
        conditions.append(_flow_condition(table["after"]))
    if "expression" in table:
        try:
            is_listing = effect is Effect.HIDE
            conditions.append(expression_condition(table["expression"], is_listing=is_listing))
        except ExpressionError as error:
            place = (*path, "expression")
            down = error.line + document.opens_with_newline(place)
            document.report(place, error.what, error.fix, down=down)
    return tuple(conditions)


def _flow_condition(after: Mapping[str, Any]) -> Condition:
    within = after.get("within", DEFAULT_WITHIN)
    window = seconds(within)
    is_of_conversation = after.get("of", "conversation") == "conversation"
    tool_tests = facts_tests(after)
    tests = [tool_test.test for tool_test in tool_tests]

    def fits(past: Past, now: float) -> bool | None:
        # If the clock was set back, a time may be in the future. It counts as now.
        if now - past.at > window or not all(test(past.facts) for test in tests):
            return False
        return not is_of_conversation or past.is_same_conversation

    def test(situation: Situation) -> bool | None:
        answer: bool | None = False
        for past in reversed(situation.history):
            fit = fits(past, situation.now)
            if fit is True:
                return True
            if fit is None:
                answer = None
        return answer

    what = (
        ", ".join(f"{tool_test.key} {tool_test.wanted}" for tool_test in tool_tests) or "any kind"
    )
    whose = "conversation" if is_of_conversation else "principal"
    wanted = f"an earlier call ({what}) of this {whose} within {within}"
    return Condition(
        "after",
        wanted,
        test,
        lambda _: "no such call",
        is_of_call=True,
        window=window,
        about=tuple(tool_tests),
    )


def _check_arguments(document: Document, path: Path, table: Mapping[str, Any]) -> None:
    for name, wanted in table.items():
        if not all(name.split(".")):
            what = f"the path “{name}” has an empty step"
            document.report((*path, name), what, "Separate keys with single dots: customer.id.")
        if wanted.get("exists") is False and len(wanted) > 1:
            what = "exists = false cannot be combined with other conditions"
            document.report((*path, name), what, "Remove the other conditions.")
        bounds = wanted.get("range", {})
        if bounds.get("min", 0) > bounds.get("max", bounds.get("min", 0)):
            document.report((*path, name, "range"), "min must not be larger than max", "Swap them.")
