"""Tools as a policy sees them: its trust and its operator's word in their hints."""

import json
from dataclasses import replace

from tests.policy.samples import policy
from tests.sample_tools import DELETE, READ, tool

from sayso.intent import Level, Source
from sayso.policy import Policy, Principal, Sight, ToolFacts, facts_of
from sayso.policy.visibility import seen_under

DECLARED = {"io.sayso/intent": {"category": "crm", "tags": ["b", "a"], "scopes": ["s"]}}


def test_trust_and_the_operators_word_are_in_the_hints() -> None:
    reads = tool("get_note", READ)
    assert seen_under(Policy(), reads).level is Level.READ
    assert seen_under(policy('[trust]\ndemo = "untrusted"'), reads).level is Level.DESTRUCTIVE
    said = seen_under(policy("[operator.demo.get_note]\nread_only = false"), reads)
    assert said.resolved.read_only.source is Source.OPERATOR


def test_a_tool_is_seen_anew_where_it_or_the_policy_has_changed() -> None:
    sight, one, other = Sight(), Policy(), policy('[trust]\ndemo = "untrusted"')
    reads = tool("get_note", READ)
    seen = sight.of(one, reads)
    assert sight.of(one, reads) == seen
    assert sight.of(one, reads)[0] is seen[0]
    assert sight.of(one, replace(reads))[0] is not seen[0]
    assert sight.of(other, reads)[0].level is Level.DESTRUCTIVE
    assert sight.of(one, reads)[0].level is Level.READ
    elsewhere = replace(tool("get_note", DELETE), fingerprint=reads.fingerprint)
    assert sight.of(one, elsewhere)[0].level is Level.DESTRUCTIVE


def test_a_tool_that_is_hidden_from_a_caller_is_not_shown() -> None:
    seen = tool("get_note", READ, _meta=DECLARED)
    sight = Sight()

    assert sight.shown(Policy(), Principal("amy", scopes=frozenset({"s"})), seen) is not None
    assert sight.shown(Policy(), Principal("amy", scopes=frozenset()), seen) is None


def test_facts_are_of_the_tool_as_it_is_seen_and_come_back_from_data() -> None:
    facts = facts_of(tool("get_note", READ, _meta=DECLARED))
    assert (facts.server, facts.tool, facts.title) == ("demo", "get_note", "Get note")
    assert (facts.category, facts.tags, facts.scopes) == ("crm", {"a", "b"}, {"s"})
    again = ToolFacts.from_dict(json.loads(json.dumps(facts.to_dict())))
    assert again == replace(facts, title=None, scopes=frozenset())


def test_a_tool_that_was_changed_is_seen_as_the_stricter_of_what_it_was_and_is() -> None:
    read, delete = tool("get_note", READ), tool("get_note", DELETE)
    assert seen_under(Policy(), replace(read, before=delete)).level is Level.DESTRUCTIVE
    assert seen_under(Policy(), replace(delete, before=read)).level is Level.DESTRUCTIVE
    assert seen_under(Policy(), replace(read, before=read)).level is Level.READ
