"""Test cases of a policy, in TOML: each has a call and the expected decision."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sayso.intent import HINT_NAMES, Evidence, Hints, Level
from sayso.policy.decision import Decision, Effect, Mode
from sayso.policy.document import Policy
from sayso.policy.engine import OFF, decide, is_visible
from sayso.policy.principal import LOCAL, Principal
from sayso.policy.situation import Past, Situation, ToolFacts
from sayso.settings import (
    DURATION,
    Boolean,
    Choice,
    Items,
    Json,
    Key,
    Named,
    Number,
    Table,
    Text,
    read_document,
    seconds,
)

NOW: Final = 1_000_000.0
"""The current time in every case; only the time since earlier calls matters."""

_TEXTS: Final = Items(Text(), 0)
_COUNT: Final = Number(0, 100_000, is_whole=True)
_TOOL: Final[dict[str, Key]] = {
    "server": Key(Text(), "the server's name", is_required=True),
    "name": Key(Text(), "the tool's name at its server", is_required=True),
    **{name: Key(Boolean(), f"{name} as declared") for name in HINT_NAMES},
    "category": Key(Text(), "the tool's category"),
    "tags": Key(_TEXTS, "the tool's tags"),
    "scopes": Key(_TEXTS, "the scopes that the tool requires"),
    "roles": Key(_TEXTS, "the roles that the tool requires"),
}
_PRINCIPAL: Final = Table(
    {
        "subject": Key(Text(), "who calls", default=LOCAL),
        "tenant": Key(Text(), "the tenant that the caller acts for"),
        "client": Key(Text(), "the client that the caller uses", default="unknown"),
        "scopes": Key(_TEXTS, "the caller's scopes; without this key, the caller needs none"),
        "roles": Key(_TEXTS, "the caller's roles"),
    }
)
_PAST: Final = Table(
    {
        **_TOOL,
        "ago": Key(Text("a duration such as 45s", DURATION), "how long ago", default="1s"),
        "same_conversation": Key(Boolean(), "in this conversation", default=True),
    }
)
_CASE: Final = Table(
    {
        "name": Key(Text(), "the case's name", is_required=True),
        "expect": Key(Choice(tuple(Effect)), "the expected decision", is_required=True),
        "rule": Key(Text(), "the rule that is expected to decide"),
        "mode": Key(Choice(tuple(Mode)), "the mode to decide in, instead of the policy's"),
        "tool": Key(Table(_TOOL), "the tool, with its hints as declared", is_required=True),
        "arguments": Key(Named(Json()), "the call's arguments"),
        "principal": Key(_PRINCIPAL, "who calls"),
        "history": Key(Items(_PAST, 0), "the earlier calls"),
        "first_use": Key(Boolean(), "whether the tool was never used before", default=False),
        "targets": Key(_COUNT, "the number of things that the call's plan would change"),
        "recent": Key(
            Table({level: Key(_COUNT, f"{level} calls") for level in Level}),
            "the number of calls within the last minute, by level",
        ),
    }
)
CASES: Final = Table({"cases": Key(Items(_CASE), "the cases", is_required=True)})


@dataclass(frozen=True, slots=True)
class Case:
    """One case: a call, with the expected effect and rule."""

    name: str
    line: int
    expect: Effect
    rule: str | None
    mode: Mode | None
    table: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CaseResult:
    """A policy's decision on a case. `faults` is empty if the decision is the expected one."""

    case: Case
    decision: Decision
    faults: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "name": self.case.name,
            "line": self.case.line,
            "passed": not self.faults,
            "expect": str(self.case.expect),
            "decision": self.decision.to_dict(),
        }
        if self.faults:
            fields["faults"] = list(self.faults)
        return fields


def load_cases(text: str, where: str = "policy.test.toml") -> tuple[Case, ...]:
    """Read cases from `text`. Raises `PolicyError` with every mistake and its line."""
    document = read_document(text, where, CASES)
    document.finish()
    return tuple(
        Case(
            name=table["name"],
            line=document.line_of(("cases", index)),
            expect=Effect(table["expect"]),
            rule=table.get("rule"),
            mode=Mode(table["mode"]) if "mode" in table else None,
            table=table,
        )
        for index, table in enumerate(document.value["cases"])
    )


def run_case(policy: Policy, case: Case) -> CaseResult:
    """Decide one case. In mode `observe`, judge the decision that would be enforced."""
    if case.mode is not None:
        policy = replace(policy, mode=case.mode)
    situation = _situation(policy, case.table)
    decision = decide(policy, situation)
    judged = decision.judged
    if decision.rule != OFF and not is_visible(policy, situation.principal, situation.facts):
        judged = Effect.HIDE
    faults: list[str] = []
    if judged is not case.expect:
        faults.append(f"expected {case.expect}, got {judged}: {decision.reason}")
    if case.rule is not None and case.rule != decision.rule:
        faults.append(f"expected the rule “{case.rule}”, got “{decision.rule}”")
    return CaseResult(case, decision, tuple(faults))


def _situation(policy: Policy, table: Mapping[str, Any]) -> Situation:
    recent = {Level(level): (NOW,) * count for level, count in table.get("recent", {}).items()}
    return Situation(
        principal=_principal(table.get("principal", {})),
        facts=_facts(policy, table["tool"]),
        arguments=table.get("arguments", {}),
        history=tuple(_past(policy, call) for call in table.get("history", ())),
        is_first_use=table.get("first_use", False),
        recent=recent,
        targets=table.get("targets"),
        now=NOW,
    )


def _principal(table: Mapping[str, Any]) -> Principal:
    return Principal(
        table.get("subject", LOCAL),
        client=table.get("client", "unknown"),
        scopes=table.get("scopes"),
        roles=table.get("roles", frozenset()),
        tenant=table.get("tenant"),
    )


def _facts(policy: Policy, table: Mapping[str, Any]) -> ToolFacts:
    """Return the tool's facts from its declared hints and the policy, without any inference."""
    server = table["server"]
    name = table["name"]
    declared = Hints(**{hint: table[hint] for hint in HINT_NAMES if hint in table})
    return ToolFacts(
        server,
        name,
        policy.resolve(server, name, Evidence(declared)),
        category=table.get("category"),
        tags=frozenset(table.get("tags", ())),
        scopes=frozenset(table.get("scopes", ())),
        roles=frozenset(table.get("roles", ())),
    )


def _past(policy: Policy, table: Mapping[str, Any]) -> Past:
    ago = seconds(table.get("ago", "1s"))
    return Past(NOW - ago, _facts(policy, table), table.get("same_conversation", True))
