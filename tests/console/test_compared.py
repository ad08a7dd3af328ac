"""What is different from the last time, as far as the log tells; and what a question says of it."""

import re
from html import unescape

import pytest
from tests.console.conftest import Bench, answer

from sayso.approvals import make_token
from sayso.console.approvals.compared import compare
from sayso.console.approvals.view import rule_in_words
from sayso.console.audit.calls import Line
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

RULE = '\n\n[[rules]]\nname = "deletes"\neffect = "confirm"'


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


async def ran(bench: Bench, number: int, arguments: dict[str, object]) -> None:
    """A call that was asked about and allowed, and ran a minute ago."""
    await bench.call(arguments=arguments)
    async with bench.browser() as browser:
        await answer(browser, "allow", number)
    await bench.call(arguments=arguments)
    bench.clock.now += 60


def last(**arguments: object) -> Line:
    return Line("c", 1.0, "attempt", {"arguments": arguments})


def test_values_are_compared_as_json() -> None:
    found = compare({"a": 1, "b": True, "c": [1], "d": 1}, last(a=True, b=True, c=[1], e="x"))
    assert set(found.was) == {"a"}
    assert found.was["a"].text == "true"
    assert [row.name for row in found.gone] == ["e"]
    assert found.added == {"d"}
    assert not found.is_same
    assert compare({"a": 1}, last(a=1)).is_same


async def test_a_question_shows_what_differs_from_the_last_run(bench: Bench) -> None:
    await ran(bench, 1, {"customer_id": 41, "note": "same", "old": 1, "api_key": "a"})
    await bench.call(arguments={"customer_id": 42, "note": "same", "new": 2, "api_key": "b"})
    async with bench.browser() as browser:
        page = words((await browser.get("/console/approvals/2")).text)
    assert "Compared with the last run of this tool, at 12:00:00" in page
    assert "customer_id number 42 Last time: 41" in page
    assert "note text same new number 2 New since last time." in page
    assert "old removed Last time: 1" in page
    assert "api_key secret, masked ••• old" in page


async def test_a_call_like_the_last_one_says_so(bench: Bench) -> None:
    await ran(bench, 1, {"customer_id": 41})
    await bench.call(arguments={"customer_id": 41})
    async with bench.browser() as browser:
        page = words((await browser.get("/console/approvals/2")).text)
    assert "No visible difference from the last run of this tool" in page


async def test_a_call_that_was_only_asked_about_is_not_the_last_run(bench: Bench) -> None:
    await bench.call(arguments={"customer_id": 40})
    bench.clock.now += 1
    await bench.call(arguments={"customer_id": 41})
    async with bench.browser() as browser:
        page = words((await browser.get("/console/approvals/2")).text)
    assert "This tool has not run recently" in page


async def test_the_rule_that_asks_stands_with_its_line(bench: Bench) -> None:
    policy = load_policy(RULE, "/etc/sayso/policy.toml")
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    await bench.call()
    async with bench.browser() as browser:
        page = words((await browser.get("/console/approvals/1")).text)
    assert "By the rule “deletes”, policy.toml line 3" in page
    assert rule_in_words("first-use", None, "x") == "the rule “first-use”"


async def test_each_call_is_labelled_in_words(bench: Bench) -> None:
    await bench.call("studio__customers_list", {"page": 1})
    await bench.call()
    async with bench.browser() as browser:
        page = words((await browser.get("/console/")).text)
    waiting, lately = page.split("Recent")
    assert "Requires confirmation ▲ Destructive" in waiting
    assert "Safe List customers" in lately


async def test_a_link_shows_its_question_and_nothing_of_other_calls(bench: Bench) -> None:
    guard = bench.gateway.guard
    policy = load_policy('[approvals]\nchannels = ["console", "link"]')
    object.__setattr__(guard, "policy", lambda: policy)
    object.__setattr__(guard, "keys", bench.gateway.keys)
    await ran(bench, 1, {"customer_id": 41})
    await bench.call(arguments={"customer_id": 42})
    token = make_token(bench.gateway.keys, await bench.find(2), "ann", frozenset())
    async with bench.visitor() as browser:
        page = await browser.get("/console/link", params={"token": token})
        assert "You are answering as ann" in words(page.text)
        assert "customer_id number 42" in words(page.text)
        assert "Last time" not in page.text
        assert "last run" not in page.text
        fields = {"token": token, "verdict": "allow", "seen": ""}
        told = await browser.post("/console/link", data=fields)
        assert "Your answer was recorded." in told.text
        late = await browser.post("/console/link", data=fields)
        assert "The question was already answered" in late.text
        nothing = await browser.post("/console/link", data={**fields, "verdict": "x"})
        assert nothing.status_code == 400
    assert (await bench.find(2)).answered_by == "ann"
