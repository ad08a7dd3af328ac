"""Situations and policies for the tests of the policy floor."""

from dataclasses import replace
from typing import Any

from sayso.intent import (
    APPEND,
    DELETE,
    QUERY,
    SEND,
    Evidence,
    Hints,
    Intent,
    Resolved,
    ResolvedIntent,
    Source,
    resolve,
)
from sayso.policy import (
    Decision,
    Past,
    Policy,
    Principal,
    Situation,
    ToolFacts,
    decide,
    is_visible,
    load_policy,
)

QUIET_WRITE = Hints(read_only=False, destructive=False, idempotent=True, open_world=False)
HINTS = {
    "read": QUERY.hints,
    "write": QUIET_WRITE,
    "append": APPEND.hints,
    "post": Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
    "delete": DELETE.hints,
    "send": SEND.hints,
}
AMY = Principal("amy", client="chat", scopes=frozenset({"crm.read"}), roles=frozenset({"staff"}))
NOW = 10_000.0


def facts(kind: str = "delete", tool: str = "customer_delete", **more: Any) -> ToolFacts:
    """A tool of the server `crm` whose hints are those of `kind`, as declared."""
    intent = resolve(Evidence(declared=HINTS[kind]))
    return replace(ToolFacts("crm", tool, intent), **more)


def call(kind: str = "delete", tool: str = "customer_delete", **more: Any) -> Situation:
    """A call by amy of a tool of `kind`."""
    about = {key: more.pop(key) for key in ("server", "category", "tags") if key in more}
    return replace(Situation(AMY, facts(kind, tool, **about), now=NOW), **more)


def past(kind: str, *, ago: float = 1.0, same: bool = True, **more: Any) -> Past:
    """An earlier call of amy."""
    return Past(NOW - ago, facts(kind, **more), same)


def policy(text: str) -> Policy:
    return load_policy(text, "policy.toml")


def rule(effect: str, when: str, *, unless: str = "", mode: str = "guarded", more: str = "") -> str:
    """A policy of one rule, `r`."""
    parts = [f'mode = "{mode}"', "[[rules]]", 'name = "r"', f'effect = "{effect}"', more]
    parts += [f"when = {{ {when} }}"] if when else []
    parts += [f"unless = {{ {unless} }}"] if unless else []
    return "\n".join(parts)


def judge(text: str, situation: Situation) -> Decision:
    """What the policy `text` makes of `situation`."""
    return decide(policy(text), situation)


def says(text: str, situation: Situation) -> str:
    """The name of the rule that decides."""
    return judge(text, situation).rule


def operated(**hints: bool) -> ResolvedIntent:
    """A resolved intent in which the operator has said all that is named."""
    named: dict[str, Any] = {
        name: Resolved(value, Source.OPERATOR) for name, value in hints.items()
    }
    return replace(resolve(Evidence()), **named)


def sees(principal: Principal, intent: Intent) -> bool:
    """Whether a caller may know of a tool with this intent where no rule hides it."""
    facts = ToolFacts(
        "crm", "x", resolve(Evidence(intent.hints)), scopes=intent.scopes, roles=intent.roles
    )
    return is_visible(Policy(), principal, facts)
