"""Arguments as fields of a form, what a reviewer makes of them, and what is kept from that."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.console.conftest import Bench, csrf_of

from sayso.approvals import Answer, patched
from sayso.console.approvals.editing import (
    difference,
    fields_of,
    misfits,
    names_of,
    read_arguments,
)
from sayso.errors import UsageError
from sayso.policy import load_policy
from sayso.workers import BoundedChecker

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {
        "customer_id": {"type": "integer"},
        "note": {"type": "string"},
        "tags": {"type": "array"},
        "api_key": {"type": "string", "minLength": 8},
    },
}
TWO = (
    '[[rules]]\nname = "two"\neffect = "confirm"\n[rules.reviewers]\ncount = 2\n'
    'roles = ["admin", "approver"]'
)

plain = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=2), plain, max_size=4)


def as_sent(arguments: dict[str, Any]) -> dict[str, str]:
    """The form as a browser sends it when nobody has touched it."""
    fields = fields_of(arguments, SCHEMA)
    told = {one.key: one.text.replace("\n", "\r\n") for one in fields if one.key}
    return {"names": names_of(fields), **told}


@given(objects)
def test_a_form_that_nobody_touched_changes_nothing(arguments: dict[str, Any]) -> None:
    assert read_arguments(as_sent(arguments), arguments) == arguments


@given(objects, objects)
def test_the_difference_makes_the_one_of_the_other(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert patched(before, difference(before, after)) == after


@pytest.mark.parametrize(
    ("key", "typed", "after"),
    [
        ("json.0", "7", {"customer_id": 7, "note": "a\nb"}),
        ("json.0", '{"a": [1]}', {"customer_id": {"a": [1]}, "note": "a\nb"}),
        ("json.0", " ", {"note": "a\nb"}),
        ("text.1", "", {"customer_id": 4, "note": ""}),
        ("text.1", "c\r\nd", {"customer_id": 4, "note": "c\nd"}),
        ("json.2", '["x"]', {"customer_id": 4, "note": "a\nb", "tags": ["x"]}),
        ("optional.3", "k", {"customer_id": 4, "note": "a\nb", "api_key": "k"}),
    ],
)
def test_what_is_typed_is_what_the_call_would_say(key: str, typed: str, after: Any) -> None:
    before = {"customer_id": 4, "note": "a\nb"}
    assert read_arguments({**as_sent(before), key: typed}, before) == after


@pytest.mark.parametrize("text", ["seven", "{", '{"a": 1, "a": 2}', "NaN", "[" * 9999])
def test_what_is_no_json_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="“customer_id” is"):
        read_arguments({"names": '["customer_id"]', "json.0": text}, {})


@pytest.mark.parametrize("names", ["", "{", "{}", "7"])
def test_a_form_without_its_names_is_refused(names: str) -> None:
    with pytest.raises(UsageError, match="lacks the names of its arguments"):
        read_arguments({"names": names}, {})


def test_null_within_an_object_cannot_be_set() -> None:
    with pytest.raises(UsageError, match="null"):
        difference({"a": 1}, {"a": {"b": None}})


async def test_what_is_masked_cannot_be_changed_and_does_not_misfit() -> None:
    before = {"api_key": "•••", "customer_id": 4}
    fields = fields_of(before, SCHEMA)
    assert [(one.name, one.key) for one in fields[:2]] == [
        ("api_key", ""),
        ("customer_id", "json.1"),
    ]
    assert read_arguments({"names": names_of(fields), "json.1": "5"}, before)["api_key"] == "•••"
    checker = BoundedChecker(SCHEMA)
    assert await misfits(checker, before, {"customer_id": 5}) == []
    assert await misfits(checker, before, {"customer_id": "x"}) != []
    assert await misfits(None, before, {"customer_id": "x"}) == []


def test_hidden_characters_are_edited_as_their_codes() -> None:
    (field,) = fields_of({"note": "a\u202eb"}, None)
    assert (field.key, field.text) == ("json.0", '"a\\u202eb"')


async def edited(bench: Bench, **fields: str) -> Any:
    """Press the button of the changed arguments, with these fields."""
    async with bench.browser() as browser:
        page = await browser.get("/console/approvals/1")
        form = {"csrf": csrf_of(page), "names": '["customer_id", "note"]', "verdict": "edit"}
        form["seen"] = "".join(re.findall(r'name="seen" value="(\w*)"', page.text))
        return await browser.post("/console/approvals/1/answer", data={**form, **fields})


async def test_the_call_runs_with_what_a_reviewer_made_of_it(bench: Bench) -> None:
    await bench.call(arguments={"customer_id": 41, "note": "x"})
    assert (await edited(bench, **{"json.0": "42", "text.1": "x"})).status_code == 303
    await bench.call(arguments={"customer_id": 41, "note": "x"})
    assert [call.arguments for call in bench.ran] == [{"customer_id": 42, "note": "x"}]


async def test_an_edit_that_does_not_fit_the_tool_is_refused_before_it_counts(bench: Bench) -> None:
    bench.shelf.raws[0]["inputSchema"] = SCHEMA
    await bench.call(arguments={"customer_id": 41, "note": "x"})
    refused = await edited(bench, **{"json.0": '"x"', "text.1": "x"})
    assert refused.status_code == 403
    assert "does not match the tool" in refused.text
    assert (await bench.find()).state == "pending"


async def test_a_browser_puts_nothing_of_its_own_into_the_answer(bench: Bench) -> None:
    await bench.call(arguments={"customer_id": 41, "note": "first\nsecond"})
    async with bench.browser() as browser:
        page = (await browser.get("/console/approvals/1")).text
    (form,) = re.findall(r'<form[^>]* id="answer-1"[^>]*>', page)
    typed = re.findall(r'<textarea[^>]*>|<input type="text"[^>]* name=[^>]*>', page)
    assert len(typed) > 2
    assert all('autocomplete="off"' in one for one in (form, *typed))


async def test_an_edit_that_changes_nothing_is_refused(bench: Bench) -> None:
    await bench.call(arguments={"customer_id": 41, "note": "x"})
    refused = await edited(bench, **{"json.0": "41", "text.1": "x"})
    assert "The edit changes nothing" in refused.text
    assert (await bench.find()).state == "pending"


async def test_the_second_reviewer_sees_the_edit_and_agrees_to_no_other(bench: Bench) -> None:
    policy = load_policy(TWO)
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    arguments = {"customer_id": 41, "note": "x"}
    await bench.call(arguments=arguments)
    approvals = bench.gateway.guard.approvals

    def by(name: str, edit: dict[str, Any]) -> Answer:
        said = {"by": name, "channel": "console", "roles": frozenset({"approver"})}
        return Answer(is_allowed=True, edit=edit, **said)  # pyright: ignore[reportArgumentType] - as forms give it

    async with bench.browser() as browser:
        early = await browser.get("/console/approvals/1")
        assert await approvals.answer(1, by("ann", {"note": "y"}))
        stale = {"csrf": csrf_of(early), "verdict": "allow", "seen": ""}
        late = await browser.post("/console/approvals/1/answer", data=stale)
        assert late.status_code == 409
        assert "Another reviewer has changed the arguments" in late.text
        ended = await browser.get("/console/approvals/1/end", params={"edit": ""})
        assert "changed the arguments" in ended.text

        page = await browser.get("/console/approvals/1")
        assert "The call would run with these changes" in page.text
        assert "Allowed by <bdi>ann</bdi>" in page.text
        assert "Allow for longer" not in page.text
        (seen,) = re.findall(r'name="seen" value="(\w+)"', page.text)
        assert (
            await browser.get("/console/approvals/1/end", params={"edit": seen})
        ).status_code == 204
        told = await browser.post("/console/approvals/1/answer", data={**stale, "seen": seen})
        assert told.status_code == 303
    await bench.call(arguments=arguments)
    assert [call.arguments for call in bench.ran] == [{"customer_id": 41, "note": "y"}]


async def test_whoever_has_allowed_it_is_told_who_is_missing_and_may_still_deny(
    bench: Bench,
) -> None:
    policy = load_policy(TWO)
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    await bench.call()
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        await browser.post("/console/approvals/1/answer", data={**fields, "message": "fine by me"})
        page = (await browser.get("/console/approvals/1")).text
        assert "You have allowed it; 1 more must allow it." in page
        assert "fine by me" in page
        assert 'value="allow"' not in page
        twice = await browser.post("/console/approvals/1/answer", data=fields)
        assert (twice.status_code, "You have already answered" in twice.text) == (409, True)
        await browser.post("/console/approvals/1/answer", data={**fields, "verdict": "deny"})
    assert (await bench.find()).state == "denied"


def test_names_come_back_as_they_went() -> None:
    names = ["a\u200b", "<b>", '"', "\ud800"]
    fields = fields_of(dict.fromkeys(names, 1), None)
    assert json.loads(names_of(fields)) == names
    assert names_of(fields).isascii()
