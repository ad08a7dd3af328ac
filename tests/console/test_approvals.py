"""The approvals page: what it shows of a question, and answering it once."""

import contextlib
import re
from html import unescape

import anyio
import pytest
from tests.console.conftest import Bench, Clock, answer, csrf_of

from sayso.approvals import Answer
from sayso.connect import RpcError
from sayso.connect.rpc import Fault
from sayso.store import RecordRow

pytestmark = pytest.mark.anyio


def plain(page: str) -> str:
    """The words of a page, without its elements."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def version_of(page: str) -> str:
    """Which version of the queue a page shows."""
    return "".join(re.findall(r'name="shown" value="(\w*)"', page))


async def test_an_empty_queue_says_what_to_do_next(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/")

    assert "<title>Approvals · sayso</title>" in page.text
    assert "No call is waiting for an answer." in page.text
    assert '<code id="address">http://127.0.0.1:8321/mcp</code>' in page.text


async def test_a_question_holds_all_that_a_person_needs(bench: Bench) -> None:
    arguments = {"customer_id": 41, "api_key": "x", "reason": "", "tags": ["a", "b"]}
    await bench.call(arguments=arguments)
    digest = (await bench.find()).question.arguments_digest

    async with bench.browser() as browser:
        queue = await browser.get("/console/")
        words = plain((await browser.get("/console/approvals/1")).text)

    assert "<title>(1) Approvals · sayso</title>" in queue.text
    assert "One call is waiting for your answer." in queue.text
    assert "Requires confirmation ▲ Destructive may delete or overwrite" in plain(queue.text)
    for shown in (
        "May “ desk-agent ” run “ Delete customer · customer_id 41, api_key •••, reason “”, tags ",
        "▲ Destructive may delete or overwrite",
        "Tool customer_delete",
        "Server studio",
        "Agent desk-agent as named by itself",
        "For this machine’s user",
        "Why it asks it may destroy or overwrite something",
        "By the mode “guarded”; no rule of the policy matches",
        f"Digest {digest[:12]}",
        "Read-only: no declared by the server",
        "Destructive: yes declared by the server",
        "Idempotent: yes inferred, 0.9",
        "Open world: no inferred, 0.9",
        "customer_id number 41",
        "api_key secret, masked •••",
        "reason empty text",
        'tags list of 2 ["a", "b"]',
        "This cannot be undone.",
        "This tool has not run recently, so there is nothing to compare with.",
        "in 15 min 0 s , and nothing runs.",
    ):
        assert shown in words, shown


async def test_a_row_says_whether_the_agent_still_waits(bench: Bench) -> None:
    bench.clock.now += 7
    await bench.call()
    async with bench.browser() as browser:
        stopped = await browser.get("/console/")
        asked = (await bench.store.records.newest())[-1]
        await bench.store.records.append([RecordRow("c1", bench.clock(), asked.event, asked.body)])
        seen = version_of(stopped.text)
        waiting = await browser.get("/console/approvals/live", params={"shown": seen})
        bench.clock.now += 60
        silent = plain((await browser.get("/console/")).text)

    (said,) = re.findall(r"The agent stopped waiting at [\d:]+:07 \. [^.]+\.", plain(stopped.text))
    assert said.endswith("If you allow it, it can make this call once within 5 minutes.")
    assert "The agent is waiting." in plain(waiting.text)
    assert "The agent stopped waiting at" in silent


async def test_deny_comes_before_allow_and_enter_presses_neither(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        page = await browser.get("/console/approvals/1")

    form = page.text.partition('id="answer-1"')[2]
    assert re.findall(r"<button[^>]*>", form)[0] == "<button disabled hidden>"
    buttons = re.findall(r'<button[^>]+name="verdict" value="([\w-]+)"', form)
    assert buttons == ["deny", "allow", "session-call", "session-tool", "edit"]


async def test_findings_stand_with_the_question(bench: Bench) -> None:
    bench.shelf.raws[0]["annotations"] = {"readOnlyHint": "true"}
    await bench.call()

    async with bench.browser() as browser:
        page = await browser.get("/console/approvals/1")

    assert "readOnlyHint must be true or false" in page.text
    assert "hint-not-a-boolean" in page.text
    assert re.search(r"<small>inferred, \d\.\d\d</small>", page.text)


async def test_the_oldest_question_comes_first(bench: Bench) -> None:
    for customer in (1, 2, 3):
        await bench.call(arguments={"customer_id": customer})

    async with bench.browser() as browser:
        page = await browser.get("/console/")

    assert re.findall(r'id="approval-(\d+)"', page.text) == ["1", "2", "3"]
    assert "3 calls are waiting for your answer, the oldest first." in page.text


@pytest.mark.parametrize(("verdict", "state"), [("allow", "approved"), ("deny", "denied")])
async def test_a_button_answers_and_leads_back(bench: Bench, verdict: str, state: str) -> None:
    await bench.call()

    async with bench.browser() as browser:
        told = await answer(browser, verdict)
        page = await browser.get(told.headers["location"])

    approval = await bench.find()
    assert told.status_code == 303
    assert (approval.state, approval.answered_by, approval.channel) == (state, "console", "console")
    said = {"approved": "Allowed", "denied": "Denied"}[state]
    assert f"(approval 1): {said} at 1" in plain(page.text)
    assert 'name="verdict"' not in page.text


async def test_an_approved_call_runs_once(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")

    await bench.call()
    await bench.call()

    assert len(bench.ran) == 1
    assert (await bench.find()).state == "used"


async def test_two_people_at_once_answer_once(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as one, bench.browser() as other:
        told: dict[str, str] = {}

        async def press(name: str, verdict: str) -> None:
            browser = one if name == "one" else other
            told[name] = (await answer(browser, verdict)).headers["location"]

        async with anyio.create_task_group() as group:
            group.start_soon(press, "one", "allow")
            group.start_soon(press, "other", "deny")

    assert sorted(told.values()) == ["/console/?answered=1", "/console/?late=1"]
    winner = "allow" if told["one"].endswith("answered=1") else "deny"
    assert (await bench.find()).state == {"allow": "approved", "deny": "denied"}[winner]


async def test_whoever_comes_second_sees_who_answered_and_when(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as one, bench.browser() as other:
        fields = {"csrf": csrf_of(await other.get("/console/")), "verdict": "allow"}
        await answer(one, "deny")
        second = await other.post("/console/approvals/1/answer", data=fields)
        page = await other.get(second.headers["location"])

    assert page.status_code == 200
    assert "The question was already answered, so your answer changed nothing." in page.text
    assert re.search(r"Denied at <time [^>]+>[\d:]+</time> in the console", page.text)
    assert (await bench.find()).state == "denied"


async def test_an_answer_after_the_time_is_up_changes_nothing(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        bench.clock.now += 900
        late = await browser.post("/console/approvals/1/answer", data=fields)
        page = await browser.get(late.headers["location"])

    assert "Nothing was run." in page.text
    assert (await bench.find()).state == "expired"


@pytest.mark.parametrize("verdict", ["", "yes", "ALLOW", "true"])
async def test_an_answer_that_is_neither_is_refused(bench: Bench, verdict: str) -> None:
    await bench.call()

    async with bench.browser() as browser:
        assert (await answer(browser, verdict)).status_code == 400

    assert (await bench.find()).state == "pending"


async def test_nobody_answers_their_own_call(bench: Bench) -> None:
    await bench.call(subject="console")

    async with bench.browser() as browser:
        refused = await answer(browser, "allow")

    assert refused.status_code == 403
    assert "another person must answer" in refused.text
    assert (await bench.find()).state == "pending"


@pytest.mark.parametrize("number", ["2", "0", "-1", "x", "9" * 30, "1" * 5000, "\u0661"])
async def test_a_question_that_is_not_there_is_not_found(bench: Bench, number: str) -> None:
    await bench.call()

    async with bench.browser() as browser:
        shown = await browser.get(f"/console/approvals/{number}")
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        answered = await browser.post(f"/console/approvals/{number}/answer", data=fields)
        page = await browser.get("/console/", params={"answered": number, "late": number})

    assert (shown.status_code, answered.status_code, page.status_code) == (404, 404, 200)


async def test_an_answer_is_never_given_by_looking(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        looked = await browser.get("/console/approvals/1/answer", params={"verdict": "allow"})

    assert looked.status_code == 405
    assert (await bench.find()).state == "pending"


async def test_the_live_part_is_sent_only_when_something_changed(bench: Bench) -> None:
    async with bench.browser() as browser:

        async def ask(seen: str) -> tuple[int, str]:
            part = await browser.get("/console/approvals/live", params={"shown": seen})
            return part.status_code, version_of(part.text)

        _, empty = await ask("")
        assert await ask(empty) == (204, "")
        await bench.call()
        _, asked = await ask(empty)
        assert await ask(asked) == (204, "")
        await answer(browser, "deny")
        status, denied = await ask(asked)

    assert status == 200
    assert len({empty, asked, denied}) == 3


async def test_the_live_part_is_no_whole_page(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        part = await browser.get("/console/approvals/live")

    assert "<html" not in part.text
    assert 'id="approval-1"' in part.text


async def test_a_settled_question_has_a_page_without_buttons(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        assert 'name="verdict"' in (await browser.get("/console/approvals/1")).text
        await answer(browser, "allow")
        page = await browser.get("/console/approvals/1")

    assert 'name="verdict"' not in page.text
    assert "Valid for one call until" in page.text


async def test_what_became_of_questions_is_told(bench: Bench) -> None:
    async with bench.browser() as browser:
        for customer, verdict in enumerate(["allow", "allow", "deny"], start=1):
            await bench.call(arguments={"customer_id": customer})
            await answer(browser, verdict, customer)
        await bench.call(arguments={"customer_id": 1})
        await bench.call(arguments={"customer_id": 4})
        earlier = plain((await browser.get("/console/")).text)
        bench.clock.now += 900
        later = plain((await browser.get("/console/")).text)

    assert "in the console. Ran in less than 0.01 s. See the call" in earlier
    assert "Valid for one call until" in earlier
    assert "The same call is denied until" in earlier
    assert "No call was made by" in later
    assert "Not answered by" in later
    assert "in the console. Nothing was run." in later


async def approved(bench: Bench) -> tuple[str, str, str]:
    """The words of the page after an approved call: its banner, its place in the list, its page."""
    await bench.call()
    async with bench.browser() as browser:
        told = await answer(browser, "allow")
        with contextlib.suppress(RpcError):
            await bench.call()
        page = (await browser.get(told.headers["location"])).text
        own = (await browser.get("/console/approvals/1")).text
    banner, listed = page.split('id="recent"')
    return banner, listed, own


@pytest.mark.parametrize(
    ("is_failing", "error", "shown", "tone"),
    [
        (False, None, "Ran in less than 0.01\N{NO-BREAK SPACE}s.", "is-good"),
        (
            True,
            None,
            "The tool reported an error after less than 0.01\N{NO-BREAK SPACE}s.",
            "is-bad",
        ),
        (False, RpcError(-1, "no"), "The server returned an error.", "is-bad"),
        (
            False,
            RpcError(-1, "gone", fault=Fault.LOST),
            "Outcome unknown. Check the result before you do anything else.",
            "is-bad",
        ),
    ],
)
async def test_an_approval_tells_how_its_call_ended(
    *, bench: Bench, is_failing: bool, error: Exception | None, shown: str, tone: str
) -> None:
    bench.is_failing, bench.error = is_failing, error

    for words in await approved(bench):
        assert f'<span class="{tone}">{shown}</span>' in words
        assert "Allowed at 1" in plain(words)


async def test_an_approval_and_its_call_lead_to_each_other(bench: Bench) -> None:
    *_, own = await approved(bench)
    (link,) = re.findall(r'href="(/console/audit/\w+)"', own)

    async with bench.browser() as browser:
        call = await browser.get(link)

    assert 'href="/console/approvals/1"' in call.text
    assert link.endswith(str((await bench.find()).used_by))


@pytest.mark.parametrize(
    ("later", "shown"),
    [
        (5, "Running since 12:00:00 …"),
        (3601, "No outcome is recorded. Check the result before you do anything else."),
    ],
)
async def test_an_approved_call_without_an_end_is_not_said_to_have_run(
    bench: Bench, later: float, shown: str
) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        record = (await bench.store.records.newest())[-1]
        approval = await bench.find()
        assert await bench.gateway.guard.approvals.use(approval, call="c1")
        begun = plain((await browser.get("/console/")).text)
        await bench.store.records.append([RecordRow("c1", bench.clock(), "attempt", record.body)])
        bench.clock.now += later
        words = plain((await browser.get("/console/")).text)

    assert "The call has started." in begun
    assert shown.partition("12:")[0] in words
    assert "Ran in" not in words


async def test_the_live_part_is_sent_again_when_a_call_ends(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        assert await bench.gateway.guard.approvals.use(await bench.find(), call="c1")
        seen = version_of((await browser.get("/console/")).text)
        (record, *_) = await bench.store.records.newest(limit=1)
        await bench.store.records.append([RecordRow("c1", bench.clock(), "outcome", record.body)])
        part = await browser.get("/console/approvals/live", params={"shown": seen})

    assert part.status_code == 200


async def test_times_of_another_day_carry_their_date(bench: Bench) -> None:
    await bench.call()
    await bench.gateway.guard.approvals.answer(
        1, Answer(is_allowed=False, by="amy", channel="terminal")
    )
    bench.clock.now += 86_400

    async with bench.browser() as browser:
        page = await browser.get("/console/")

    assert re.search(
        r'Denied at <time datetime="2026-11-2\dT\d\d:00:00[+-][\d:]+">2026-11-2\d \d\d:00:00</time>'
        r" by amy \(terminal\)\.",
        page.text,
    )


def test_the_clock_of_these_tests_stands_at_noon() -> None:
    assert Clock().now % 86_400 == 43_200
