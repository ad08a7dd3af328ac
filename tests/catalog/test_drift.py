"""Changes of a tool in words, and those that permit more."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.catalog import (
    Tool,
    changes,
    definition_of,
    hold,
    loosens,
    make_tool,
    mark_of,
    restore_tool,
)
from sayso.intent import (
    HINT_NAMES,
    LOOSER,
    WIRE_NAMES,
    Evidence,
    Hints,
    ResolvedIntent,
    Span,
    Trust,
    resolve,
)

STRICT: dict[str, Any] = {"readOnlyHint": False, "destructiveHint": True}
READS: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": False}
WRITES: dict[str, Any] = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}


def tool(annotations: dict[str, Any] | None = None, name: str = "note", **more: Any) -> Tool:
    hints = {} if annotations is None else {"annotations": annotations}
    return make_tool("s", {"name": name, **hints, **more})


def asked_of(**own: Any) -> dict[str, Any]:
    return {"_meta": {"io.sayso/intent": own, "other": 1}}


def words(known: Tool, now: Tool) -> list[tuple[str, bool]]:
    return [(change.what, change.is_looser) for change in changes(known, now)]


def test_a_tool_is_known_by_what_its_fingerprint_covers_and_who_may_call_it() -> None:
    one = tool(READS, description="d", icons=["i"], **asked_of(scopes=["a"], category="c"))
    assert definition_of(one) == {
        "name": "note",
        "description": "d",
        "annotations": READS,
        "_meta": {"io.sayso/intent": {"scopes": ["a"]}},
    }
    assert mark_of(one) != one.fingerprint
    assert mark_of(one) == mark_of(restore_tool("s", definition_of(one)))


@pytest.mark.parametrize("more", [{}, {"_meta": {"x": 1}}, asked_of(category="c"), {"_meta": 1}])
def test_where_nothing_is_said_of_callers_it_is_known_by_its_fingerprint(
    more: dict[str, Any],
) -> None:
    assert mark_of(tool(READS, **more)) == tool(READS, **more).fingerprint


def test_a_tool_that_is_recalled_is_the_same_again() -> None:
    one = tool(WRITES, description="writes", inputSchema={"type": "object"})
    again = restore_tool("s", definition_of(one))
    assert (again.resolved, again.fingerprint) == (one.resolved, one.fingerprint)


@pytest.mark.parametrize(
    ("known", "now", "is_looser"),
    [
        (STRICT, READS, True),
        (STRICT, WRITES, True),
        (WRITES, READS, True),
        (READS, WRITES, False),
        (READS, STRICT, False),
        (None, WRITES, True),
        (WRITES, None, False),
        (READS, {**READS, "title": "Other"}, False),
        (READS, {**READS, "openWorldHint": True}, False),
        ({**READS, "openWorldHint": True}, READS, True),
        (WRITES, {**WRITES, "idempotentHint": True}, True),
    ],
)
def test_a_hint_that_would_count_looser_permits_more(
    known: dict[str, Any] | None, now: dict[str, Any] | None, *, is_looser: bool
) -> None:
    assert loosens(tool(known), tool(now)) is is_looser


def test_a_looser_word_counts_though_the_policy_of_today_does_not_believe_it() -> None:
    known, now = tool(STRICT, name="delete_all"), tool(READS, name="delete_all")
    assert now.level is known.level
    assert loosens(known, now)
    assert (
        "readOnlyHint: was false, is true",
        True,
    ) in words(known, now)


def test_what_only_the_policy_of_the_moment_would_believe_permits_more_too() -> None:
    known, now = tool(description="Delete it all"), tool(description="Get it")

    def under(evidence: Evidence) -> ResolvedIntent:
        is_now = evidence == now.evidence
        return resolve(Evidence(Hints(read_only=True if is_now else None)), Trust.TRUSTED)

    assert known.evidence != now.evidence
    assert not loosens(known, now)
    assert loosens(known, now, under)
    assert not loosens(now, known, under)


@pytest.mark.parametrize(
    ("known", "now", "is_looser", "word"),
    [
        ({"scopes": ["a", "b"]}, {"scopes": ["a"]}, True, "scope b is no longer required"),
        ({"scopes": ["a"]}, {"scopes": ["a", "b"]}, False, "scope b is now required"),
        ({"roles": ["a"]}, {}, True, "roles: were a, are none"),
        ({"roles": ["a"]}, {"roles": ["a", "b"]}, True, "roles: were a, are a, b"),
        ({"roles": ["a", "b"]}, {"roles": ["a"]}, False, "roles: were a, b, are a"),
        ({}, {"roles": ["a"]}, False, "roles: were none, are a"),
        ({"grant": "once"}, {}, True, "an answer may stand for: was once, is any time"),
        ({"grant": "once"}, {"grant": "session"}, True, "an answer may stand for: was once, is"),
        ({"grant": "session"}, {"grant": "once"}, False, "an answer may stand for: was session"),
        ({}, {"grant": "once"}, False, "an answer may stand for: was any time, is once"),
    ],
)
def test_more_callers_or_longer_answers_permit_more(
    known: dict[str, Any], now: dict[str, Any], word: str, *, is_looser: bool
) -> None:
    before, after = tool(READS, **asked_of(**known)), tool(READS, **asked_of(**now))
    assert before.fingerprint == after.fingerprint
    assert mark_of(before) != mark_of(after)
    assert loosens(before, after) is is_looser
    ((what, looser),) = words(before, after)
    assert what.startswith(word)
    assert looser is is_looser


def test_words_and_schemas_are_told_of_and_permit_nothing() -> None:
    names: dict[str, Any] = {"properties": {"gone": {}, "kept": {}, "other": {"type": "string"}}}
    more: dict[str, Any] = {"properties": {"kept": {}, "new": {}, "other": {"type": "number"}}}
    known = tool(READS, title="A", inputSchema=names, outputSchema={"type": "object"})
    now = tool(READS, title="B", description="d" * 400, inputSchema=more, outputSchema={})
    assert not loosens(known, now)
    assert words(known, now) == [
        ("the title was “A”, is “B”", False),
        (f"the description was not there, is “{'d' * 299}…”", False),
        ("the input no longer has the property “gone”", False),
        ("the input has a new property “new”", False),
        ("the input property “other” has changed", False),
        ("the output schema has changed", False),
    ]
    assert words(known, known) == []


def test_a_text_that_is_none_and_a_schema_that_is_none_are_told_of() -> None:
    known, now = tool(READS, description=[1], outputSchema=1), tool(READS, outputSchema=2)
    assert words(known, now) == [
        ("the description was “[1]”, is not there", False),
        ("the output schema has changed", False),
    ]


def test_what_permits_more_is_told_first() -> None:
    known, now = tool(STRICT, description="a"), tool(READS, description="b")
    found = [is_looser for _, is_looser in words(known, now)]
    assert found == sorted(found, reverse=True)
    assert words(known, now)[0] == (
        "readOnlyHint: counted as false, would count as true (declared)",
        True,
    )


def test_of_a_change_that_is_held_the_stricter_counts_and_a_finding_says_why() -> None:
    known = tool(WRITES, **asked_of(scopes=["a"], roles=["r"], grant="once"))
    now = tool({**READS, "openWorldHint": True}, **asked_of(scopes=["b"]))
    held = hold(now, known)
    assert held.resolved.hints_dict == {
        "read_only": False,
        "destructive": False,
        "idempotent": False,
        "open_world": True,
    }
    assert (held.intent.scopes, held.intent.roles) == ({"a", "b"}, {"r"})
    assert held.intent.grant is Span.ONCE
    assert (held.before, held.raw, held.fingerprint) == (known, now.raw, now.fingerprint)
    (finding,) = held.findings[len(now.findings) :]
    assert finding.code == "change-not-accepted"
    assert "readOnlyHint" in finding.message


def test_where_only_the_policy_permits_more_the_finding_says_so() -> None:
    held = hold(tool(READS), tool(READS))
    assert "under this policy" in held.findings[-1].message


HINTS = st.fixed_dictionaries(
    {},
    optional={wire: st.sampled_from([True, False]) for wire in WIRE_NAMES.values()},
)


@given(known=HINTS, now=HINTS)
def test_what_is_held_never_permits_more_than_what_was_known(
    known: dict[str, Any], now: dict[str, Any]
) -> None:
    before, after = tool(known), tool(now)
    held = hold(after, before)
    for name in HINT_NAMES:
        if held.resolved[name].value is LOOSER[name]:
            assert before.resolved[name].value is LOOSER[name]
            assert after.resolved[name].value is LOOSER[name]
    if not loosens(before, after):
        for hint in HINT_NAMES:
            is_looser = after.resolved[hint].value is LOOSER[hint]
            assert not is_looser or before.resolved[hint].value is LOOSER[hint]


@given(known=HINTS, now=HINTS)
def test_a_change_there_and_back_permits_more_one_way_unless_nothing_changes(
    known: dict[str, Any], now: dict[str, Any]
) -> None:
    before, after = tool(known), tool(now)
    if before.resolved.hints != after.resolved.hints:
        assert loosens(before, after) or loosens(after, before)
