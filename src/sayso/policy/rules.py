"""Building one rule, and reporting what in it cannot be meant."""

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
    """The rule of a checked `table`, or `None` where a mistake in it is reported."""
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
        reason=table.get("reason", f"the rule “{name}” says so"),
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
    """Limits, on all calls together or by level."""
    calls: Any = table.get("calls_per_minute")
    if isinstance(calls, int):
        return Limits(calls=calls, targets=table.get("targets"))
    return Limits(by_level=calls or {}, targets=table.get("targets"))


def _check_effect(document: Document, path: Path, table: Mapping[str, Any], effect: Effect) -> None:
    if effect is not Effect.CONFIRM:
        for key in _OF_QUESTIONS:
            if key in table:
                what = f"“{key}” is about a question, and this rule asks none"
                document.report((*path, key), what, 'Write effect = "confirm", or take it out.')
    if "limits" in table and effect in (Effect.DENY, Effect.HIDE):
        document.report((*path, "limits"), "this rule lets no call through that could be limited")
    if effect is not Effect.HIDE:
        return
    for part in ("when", "unless"):
        for key in _OF_CALLS:
            if key in table.get(part, {}):
                what = f"a rule that hides cannot look at “{key}”: a tool is hidden before a call"
                document.report((*path, part, key), what, "Deny such calls instead.")


def _check_reviewers(document: Document, path: Path, table: Mapping[str, Any]) -> None:
    said = _reviewers(table.get("reviewers"))
    if said is None or said.roles or not said.subjects or said.count <= len(said.subjects):
        return
    what = f"{said.count} people must approve, and {len(said.subjects)} are named"
    document.report((*path, "reviewers"), what, "Name more, or ask for fewer.")


def _reviewers(value: Any) -> Reviewers | None:
    if value is None:
        return None
    if isinstance(value, int):
        return Reviewers(value)
    return Reviewers(value.get("count", 1), value.get("subjects", ()), value.get("roles", ()))


def _conditions(
    document: Document, path: Path, rule: Mapping[str, Any], effect: Effect, roles: Roles
) -> tuple[Condition, ...]:
    """The conditions of `when` or `unless`, those that cost least first."""
    part: Literal["when", "unless"] = "when" if path[-1] == "when" else "unless"
    table = rule.get(part, {})
    is_loosening = (effect is Effect.ALLOW) is (part == "when")
    found = [*facts_conditions(table), *principal_conditions(table, roles)]
    if "arguments" in table:
        _check_arguments(document, (*path, "arguments"), table["arguments"])
        found += argument_conditions(table["arguments"], is_loosening=is_loosening)
    if "meta" in table:
        found += meta_conditions(table["meta"], is_loosening=is_loosening)
    if "after" in table:
        found.append(_flow_condition(table["after"]))
    if "expression" in table:
        try:
            is_listing = effect is Effect.HIDE
            found.append(expression_condition(table["expression"], is_listing=is_listing))
        except ExpressionError as error:
            place = (*path, "expression")
            down = error.line + document.opens_with_newline(place)
            document.report(place, error.what, error.fix, down=down)
    return tuple(found)


def _flow_condition(after: Mapping[str, Any]) -> Condition:
    within = after.get("within", DEFAULT_WITHIN)
    window = seconds(within)
    is_of_conversation = after.get("of", "conversation") == "conversation"
    asked = facts_tests(after)
    tests = [question.test for question in asked]

    def fits(past: Past, now: float) -> bool | None:
        # A time ahead of `now` is a clock that was set back: it counts as just now.
        if now - past.at > window or not all(test(past.facts) for test in tests):
            return False
        return not is_of_conversation or past.is_same_conversation

    def test(situation: Situation) -> bool | None:
        answer: bool | None = False
        for past in reversed(situation.history):
            found = fits(past, situation.now)
            if found is True:
                return True
            if found is None:
                answer = None
        return answer

    what = ", ".join(f"{question.key} {question.wanted}" for question in asked) or "any kind"
    whose = "conversation" if is_of_conversation else "principal"
    wanted = f"an earlier call ({what}) of this {whose} within {within}"
    return Condition(
        "after",
        wanted,
        test,
        lambda _: "nothing of the kind",
        is_of_call=True,
        window=window,
        about=tuple(asked),
    )


def _check_arguments(document: Document, path: Path, table: Mapping[str, Any]) -> None:
    for name, wanted in table.items():
        if not all(name.split(".")):
            what = f"“{name}” is not a path: a step of it is empty"
            document.report((*path, name), what, "Join keys with single dots: customer.id.")
        if wanted.get("exists") is False and len(wanted) > 1:
            what = "what is absent has no value to look at"
            document.report((*path, name), what, "Take the other conditions out.")
        bounds = wanted.get("range", {})
        if bounds.get("min", 0) > bounds.get("max", bounds.get("min", 0)):
            document.report((*path, name, "range"), "min is larger than max", "Swap them.")
