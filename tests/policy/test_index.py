"""The index of rules: it decides what looking at every rule would decide, and looks at few."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.intent import DESTRUCTIVE, READ_ONLY, WRITE, Evidence
from sayso.policy import Effect, Policy, Principal, Rule, Situation, ToolFacts, decide, load_policy
from sayso.policy.conditions import Condition, Reads
from sayso.policy.engine import is_visible

SERVERS = ("crm", "git", "crm2")
TOOLS = ("customer_get", "customer_delete", "push")
NAMES = st.sampled_from([*TOOLS, "customer_*", "*", "[a-p]*", "never"])
INTENTS = {"read": READ_ONLY, "write": WRITE, "destructive": DESTRUCTIVE}


def one_or_more(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values | st.lists(values, min_size=1, max_size=2, unique=True)


CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "server": one_or_more(st.sampled_from([*SERVERS, "cr?", "*"])),
        "tool": one_or_more(NAMES),
        "level": one_or_more(st.sampled_from([*INTENTS])),
        "read_only": st.booleans(),
        "tag": one_or_more(st.sampled_from(["pii", "money"])),
        "category": st.sampled_from(["crm", "vcs"]),
        "subject": one_or_more(st.sampled_from(["amy", "bob", "a*"])),
        "client": st.sampled_from(["chat", "c*"]),
        "role": one_or_more(st.sampled_from(["lead", "staff"])),
        "scope": st.sampled_from(["crm.read", "crm.write"]),
    },
)
OF_CALLS = st.fixed_dictionaries({}, optional={"arguments": st.just({"n": {"range": {"min": 5}}})})


@st.composite
def rules(draw: st.DrawFn) -> dict[str, Any]:
    effect = draw(st.sampled_from(["allow", "confirm", "deny", "hide"]))
    rule: dict[str, Any] = {"effect": effect}
    for part in ("when", "unless"):
        table = draw(CONDITIONS)
        if effect != "hide":
            table |= draw(OF_CALLS)
        if table:
            rule[part] = table
    return rule


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    mode = draw(st.sampled_from(["guarded", "strict", "plan", "unattended", "observe"]))
    parts = [f'mode = "{mode}"', '[roles]\nlead = ["crm.write"]']
    for number, rule in enumerate(draw(st.lists(rules(), max_size=8))):
        lines = [f'[[rules]]\nname = "r{number}"\neffect = "{rule["effect"]}"']
        lines += [f"{part} = {toml(rule[part])}" for part in ("when", "unless") if part in rule]
        parts.append("\n".join(lines))
    return load_policy("\n".join(parts))


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


FACTS = [
    ToolFacts(server, tool, Policy().resolve(server, tool, Evidence(intent.hints)), tags=tags,
              category=category)
    for server in SERVERS
    for tool in TOOLS
    for intent in INTENTS.values()
    for tags, category in ((frozenset[str](), None), (frozenset({"pii"}), "crm"))
]  # fmt: skip
CALLERS = [
    Principal(subject, client, scopes, roles)
    for subject in ("amy", "bob")
    for client in ("chat", "other")
    for scopes in (None, frozenset({"crm.read"}))
    for roles in (frozenset[str](), frozenset({"lead"}), frozenset({"staff"}))
]


def linear(policy: Policy) -> Policy:
    """The same policy, with every condition looked at for each call."""

    def plain(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        return tuple(replace(one, reads=Reads.CALL, names=None) for one in conditions)

    rules = [
        replace(rule, when=plain(rule.when), unless=plain(rule.unless)) for rule in policy.rules
    ]
    return replace(policy, rules=tuple(rules))


@settings(deadline=None)
@given(
    policy=policies(),
    calls=st.lists(
        st.tuples(st.sampled_from(FACTS), st.sampled_from(CALLERS), st.sampled_from([1, 9, "x"])),
        min_size=1,
        max_size=12,
    ),
)
def test_the_index_decides_what_looking_at_every_rule_decides(
    policy: Policy, calls: list[tuple[ToolFacts, Principal, Any]]
) -> None:
    slow = linear(policy)
    # Twice: worked out, and remembered.
    for facts, caller, n in calls * 2:
        situation = Situation(caller, facts, {"n": n})
        assert decide(policy, situation) == decide(slow, situation)
        assert is_visible(policy, caller, facts) == is_visible(slow, caller, facts)
        matching = [rule for rule in policy.rules if rule.matches(situation)]
        found = policy.index.about(caller, facts)
        assert [rule for rule in found if rule.matches(situation)] == matching


def counted(rules: int, when: str) -> tuple[Policy, list[int]]:
    """Return a policy of rules with one condition each, and a list that grows with each look."""
    looks: list[int] = []
    policy = load_policy(
        "\n".join(
            f'[[rules]]\nname = "r{n}"\neffect = "deny"\nwhen = {{ {when.format(n=n)} }}'
            for n in range(rules)
        )
    )

    def watched(rule: Rule) -> Rule:
        condition = rule.when[0]

        def test(situation: Situation) -> bool | None:
            looks.append(1)
            return condition.test(situation)

        return replace(rule, when=(replace(condition, test=test),))

    return replace(policy, rules=tuple(watched(rule) for rule in policy.rules)), looks


def of_kinds() -> Iterator[str]:
    yield 'tool = "other_{n}"'
    yield 'tool = "other_{n}_*"'
    yield 'server = "other_{n}"'
    yield 'level = "destructive"'
    yield 'tag = "tag_{n}"'
    yield 'subject = "somebody_{n}"'
    yield 'role = "role_{n}"'


def test_a_thousand_rules_about_other_calls_are_not_looked_at_again() -> None:
    facts = next(one for one in FACTS if one.tool == "customer_get" and one.intent.level == "read")
    for kind in of_kinds():
        policy, looks = counted(1000, kind)
        situation = Situation(Principal("amy", "chat", frozenset(), frozenset({"x"})), facts)
        first = decide(policy, situation)
        looks.clear()
        assert [decide(policy, situation) for _ in range(3)] == [first] * 3
        assert first.effect is Effect.ALLOW
        assert looks == [], kind


def test_rules_that_name_other_tools_in_full_are_never_looked_at() -> None:
    policy, looks = counted(1000, 'tool = "other_{n}"')
    decide(policy, Situation(CALLERS[0], FACTS[0]))
    assert looks == []


def test_a_condition_of_a_program_is_looked_at_for_each_call() -> None:
    """It may depend on anything, whatever it calls itself."""
    condition = Condition("tool", "w", lambda one: one.arguments.get("n") == 1, lambda _: "a")
    policy = Policy(rules=(Rule("r", Effect.DENY, "why", 0, when=(condition,)),))
    effects = [
        decide(policy, Situation(CALLERS[0], FACTS[0], {"n": n})).effect for n in (2, 1, 2, 1)
    ]
    assert effects == [Effect.ALLOW, Effect.DENY, Effect.ALLOW, Effect.DENY]


def test_what_is_remembered_of_callers_and_tools_is_bounded() -> None:
    from sayso.policy import index

    policy = load_policy('[[rules]]\nname = "r"\neffect = "deny"\nwhen = { subject = "bob" }')
    for number in range(index.MAX_CALLERS + 5):
        decide(policy, Situation(Principal(f"caller{number}"), FACTS[0]))
    assert decide(policy, Situation(Principal("bob"), FACTS[0])).effect is Effect.DENY
    for _ in range(index.MAX_TOOLS + 5):
        facts = replace(FACTS[0])
        assert decide(policy, Situation(Principal("bob"), facts)).effect is Effect.DENY
    groups = policy.index._groups  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    tools = policy.index._tools  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    assert len(tools) <= index.MAX_TOOLS
    assert all(len(group.by_caller) <= index.MAX_CALLERS for group in groups.values())
