"""Answers from forms: for how long, with which words, and only as far as the question lets."""

import pytest
from tests.console.conftest import Bench, answer, csrf_of

from avow.intent import Span
from avow.policy import load_policy

pytestmark = pytest.mark.anyio

LASTING = '[[rules]]\nname = "r"\neffect = "confirm"\ngrant = "{}"'


async def ask(bench: Bench, grant: str, **more: object) -> None:
    policy = load_policy(LASTING.format(grant))
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)
    await bench.call(arguments={"customer_id": 41, **more})


@pytest.mark.parametrize(
    ("grant", "most"), [("once", "once"), ("session", "session-tool"), ("always", "always-tool")]
)
async def test_only_what_the_question_lets_is_offered(bench: Bench, grant: str, most: str) -> None:
    await ask(bench, grant)
    async with bench.browser() as browser:
        page = (await browser.get("/console/")).text
    assert (f'value="{most}"' in page) is (most != "once")
    assert ("always-tool" in page) is (grant == "always")


async def test_an_answer_for_the_conversation_serves_the_next_call_too(bench: Bench) -> None:
    await ask(bench, "session")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        await browser.post("/console/approvals/1/answer", data={**fields, "span": "session-tool"})
    for customer in (41, 42, 43):
        assert (await bench.call(arguments={"customer_id": customer}))["isError"] is False
    (grant,) = await bench.gateway.guard.approvals.grants()
    assert (grant.span, grant.arguments, grant.given_by) == (Span.SESSION, None, "console")


async def test_an_answer_for_these_arguments_serves_no_others(bench: Bench) -> None:
    await ask(bench, "always")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        await browser.post("/console/approvals/1/answer", data={**fields, "span": "always-call"})
    await bench.call(arguments={"customer_id": 41})
    assert (await bench.call(arguments={"customer_id": 41}))["isError"] is False
    assert (await bench.call(arguments={"customer_id": 42}))["isError"] is True


async def test_a_form_that_asks_for_more_is_refused(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        page = await browser.post(
            "/console/approvals/1/answer", data={**fields, "span": "always-tool"}
        )
        assert page.status_code == 403
        page = await browser.post("/console/approvals/1/answer", data={**fields, "span": "x"})
        assert page.status_code == 400
    assert (await bench.find()).state == "pending"


async def test_a_message_reaches_the_agent_with_the_denial(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "deny"}
        message = {"message": "ask Ann first"}
        await browser.post("/console/approvals/1/answer", data={**fields, **message})
    told = await bench.call(arguments={"customer_id": 41})
    assert "ask Ann first" in str(told)


async def test_a_plain_approval_still_serves_one_call(bench: Bench) -> None:
    await ask(bench, "always")
    async with bench.browser() as browser:
        await answer(browser, "allow")
    assert (await bench.call(arguments={"customer_id": 41}))["isError"] is False
    assert (await bench.call(arguments={"customer_id": 41}))["isError"] is True
