"""Answers from forms: for how long, with which words, and only as far as the question lets."""

import pytest
from tests.console.conftest import Bench, answer, csrf_of

from sayso.console import Session
from sayso.console.entry.roles import Role
from sayso.intent import Span
from sayso.policy import load_policy

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
        page = (await browser.get("/console/approvals/1")).text
    assert (f'value="{most}"' in page) is (most != "once")
    assert ("always-tool" in page) is (grant == "always")


async def test_an_answer_for_the_conversation_serves_the_next_call_too(bench: Bench) -> None:
    await ask(bench, "session")
    async with bench.browser() as browser:
        await answer(browser, "session-tool")
    for customer in (41, 42, 43):
        assert (await bench.call(arguments={"customer_id": customer}))["isError"] is False
    (grant,) = await bench.gateway.guard.approvals.list_grants()
    assert (grant.span, grant.arguments, grant.given_by) == (Span.SESSION, None, "console")


async def test_an_answer_for_these_arguments_serves_no_others(bench: Bench) -> None:
    await ask(bench, "always")
    async with bench.browser() as browser:
        await answer(browser, "always-call")
    await bench.call(arguments={"customer_id": 41})
    assert (await bench.call(arguments={"customer_id": 41}))["isError"] is False
    assert (await bench.call(arguments={"customer_id": 42}))["isError"] is True


async def test_a_form_that_asks_for_more_is_refused(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        assert (await answer(browser, "always-tool")).status_code == 403
        assert (await answer(browser, "always")).status_code == 400
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


@pytest.mark.parametrize("path", ["/console/approvals/1", "/console/approvals/1/dialog"])
async def test_whoever_may_only_look_is_shown_no_buttons(bench: Bench, path: str) -> None:
    await ask(bench, "always")

    async def look(_: str) -> Session:
        return Session("token", float("inf"), "val", Role.VIEWER)

    async with bench.browser() as browser:
        bench.login.session = look  # pyright: ignore[reportAttributeAccessIssue] - a session of another role
        page = (await browser.get(path)).text
        assert "You may view questions" in page
        assert 'name="verdict"' not in page
        fields = {"csrf": "token", "verdict": "allow"}
        refused = await browser.post("/console/approvals/1/answer", data=fields)
        assert refused.status_code == 403
    assert (await bench.find()).state == "pending"


async def test_who_asked_is_shown_no_buttons(bench: Bench) -> None:
    await bench.call(subject="console")
    async with bench.browser() as browser:
        page = (await browser.get("/console/approvals/1")).text
    assert "You cannot answer: console made this call" in page
    assert 'name="verdict"' not in page


async def test_a_part_of_a_page_is_told_in_words_what_went_wrong(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        part = {"HX-Request": "true"}
        where = "/console/approvals/1/answer"
        told = await browser.post(where, data={**fields, "verdict": "x"}, headers=part)
        assert (told.status_code, told.headers["content-type"]) == (
            400,
            "text/plain; charset=utf-8",
        )
        assert (await browser.post(where, data=fields, headers=part)).status_code == 204
        late = await browser.post(where, data=fields, headers=part)
        assert (late.status_code, late.text[:33]) == (409, "The question was already answered")


async def test_a_call_that_does_not_run_cannot_be_stopped(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/"))}
        refused = await browser.post("/console/approvals/1/stop", data=fields)
        assert (refused.status_code, "is no longer running" in refused.text) == (409, True)


async def test_a_comment_is_kept_with_an_approval(bench: Bench) -> None:
    await ask(bench, "once")
    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        await browser.post("/console/approvals/1/answer", data={**fields, "message": "as agreed"})
        assert "as agreed" in (await browser.get("/console/approvals/1")).text
    told = await bench.call(arguments={"customer_id": 41})
    assert "as agreed" not in str(told)
