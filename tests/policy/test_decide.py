"""What each mode makes of each kind of tool, and who may see a tool at all."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import INTENTS
from tests.policy.samples import sees

from sayso.intent import Intent, Resolved, ResolvedIntent, Source
from sayso.policy import LOCAL, Decision, Effect, Mode, Principal, decide_by_mode

MODES = [Mode.OBSERVE, Mode.PLAN, Mode.GUARDED, Mode.STRICT, Mode.UNATTENDED]

# level, open_world, idempotent: what becomes of the call in observe, plan, guarded, strict,
# unattended.
TABLE: dict[tuple[str, bool, bool], str] = {
    ("read", False, False): "allow allow allow   allow   allow",
    ("read", False, True): "allow allow allow   allow   allow",
    ("read", True, False): "allow allow allow   allow   allow",
    ("read", True, True): "allow allow allow   allow   allow",
    ("write", False, False): "allow deny  allow   confirm allow",
    ("write", False, True): "allow deny  allow   confirm allow",
    ("write", True, False): "allow deny  confirm confirm deny",
    ("write", True, True): "allow deny  allow   confirm allow",
    ("destructive", False, False): "allow deny  confirm confirm deny",
    ("destructive", False, True): "allow deny  confirm confirm deny",
    ("destructive", True, False): "allow deny  confirm confirm deny",
    ("destructive", True, True): "allow deny  confirm confirm deny",
}

READS = "it only reads"
WRITES = "it writes, and loses nothing"
SENDS = "it reaches the outside world and must not happen twice"
DESTROYS = "it may destroy or overwrite something"


def intent(level: str, *, open_world: bool, idempotent: bool) -> ResolvedIntent:
    values = (level == "read", level == "destructive", idempotent, open_world)
    return ResolvedIntent(*(Resolved(value, Source.DECLARED) for value in values))


def test_the_table_is_whole() -> None:
    levels = ["read", "write", "destructive"]

    assert list(TABLE) == list(itertools.product(levels, [False, True], [False, True]))
    assert list(Mode) == MODES


@pytest.mark.parametrize("key", TABLE, ids=str)
@pytest.mark.parametrize("column", range(5), ids=[str(mode) for mode in MODES])
def test_a_mode_decides_as_the_table_says(key: tuple[str, bool, bool], column: int) -> None:
    level, open_world, idempotent = key
    mode = MODES[column]
    decision = decide_by_mode(mode, intent(level, open_world=open_world, idempotent=idempotent))

    assert str(decision.effect) == TABLE[key].split()[column]
    assert decision.rule == f"mode:{MODES[column].value}"


@pytest.mark.parametrize(
    ("mode", "level", "open_world", "decision"),
    [
        (Mode.GUARDED, "read", True, Decision(Effect.ALLOW, "mode:guarded", READS)),
        (Mode.GUARDED, "write", False, Decision(Effect.ALLOW, "mode:guarded", WRITES)),
        (Mode.GUARDED, "write", True, Decision(Effect.CONFIRM, "mode:guarded", SENDS)),
        (Mode.GUARDED, "destructive", True, Decision(Effect.CONFIRM, "mode:guarded", DESTROYS)),
        (Mode.OBSERVE, "destructive", True, Decision(Effect.ALLOW, "mode:observe", DESTROYS)),
        (Mode.STRICT, "write", False, Decision(Effect.CONFIRM, "mode:strict", WRITES)),
        (
            Mode.PLAN,
            "write",
            False,
            Decision(Effect.DENY, "mode:plan", f"{WRITES}, and only reads run while planning"),
        ),
        (
            Mode.UNATTENDED,
            "destructive",
            False,
            Decision(Effect.DENY, "mode:unattended", f"{DESTROYS}, and no one is there to answer"),
        ),
    ],
)
def test_a_decision_says_its_rule_and_its_reason(
    *, mode: Mode, level: str, open_world: bool, decision: Decision
) -> None:
    assert decide_by_mode(mode, intent(level, open_world=open_world, idempotent=False)) == decision


def test_the_words_for_modes_and_effects_are_those_of_the_design() -> None:
    assert [str(one) for one in Mode] == ["observe", "plan", "guarded", "strict", "unattended"]
    assert [str(one) for one in Effect] == ["allow", "confirm", "deny", "hide"]


# --- who may see a tool


@pytest.mark.parametrize(
    ("needed", "held", "expected"),
    [
        ([], [], True),
        ([], ["a"], True),
        (["a"], ["a"], True),
        (["a"], ["a", "b"], True),
        (["a"], [], False),
        (["a"], ["b"], False),
        (["a", "b"], ["a"], False),
        (["a", "b"], ["a", "b"], True),
        (["customers.read"], ["customers"], False),
    ],
)
def test_every_scope_of_a_tool_must_be_held(
    *, needed: list[str], held: list[str], expected: bool
) -> None:
    tool = Intent(scopes=frozenset(needed))

    assert sees(Principal("amy", scopes=frozenset(held)), tool) is expected


@pytest.mark.parametrize(
    ("needed", "held", "expected"),
    [
        ([], [], True),
        ([], ["clerk"], True),
        (["manager"], ["manager"], True),
        (["manager", "auditor"], ["auditor"], True),
        (["manager"], [], False),
        (["manager"], ["clerk"], False),
    ],
)
def test_any_one_role_of_a_tool_is_enough(
    *, needed: list[str], held: list[str], expected: bool
) -> None:
    tool = Intent(scopes=frozenset({"a"}), roles=frozenset(needed))

    def amy(*scopes: str) -> Principal:
        return Principal("amy", scopes=frozenset(scopes), roles=frozenset(held))

    assert sees(amy("a"), tool) is expected
    assert sees(amy(), tool) is False


@given(INTENTS)
def test_where_nobody_hands_out_scopes_everything_is_visible(tool: Intent) -> None:
    assert sees(Principal(LOCAL), tool)


@given(INTENTS, st.frozensets(st.text(max_size=3)), st.frozensets(st.text(max_size=3)))
def test_whoever_holds_more_sees_no_less(
    tool: Intent, scopes: frozenset[str], more: frozenset[str]
) -> None:
    fewer = Principal("amy", scopes=scopes, roles=scopes)
    greater = Principal("amy", scopes=scopes | more, roles=scopes | more)

    assert sees(fewer, tool) <= sees(greater, tool)
