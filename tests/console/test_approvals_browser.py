"""The way of an approval in a real browser: a real server behind it, a real client that waits."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from playwright.async_api import Browser, Page, Route, expect
from tests.console.browsing import (
    LIMIT,
    Served,
    asking,
    browsing,
    calling,
    dialog,
    log_in,
    opened,
    press,
    rows,
    serving,
    watched,
)

from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

LASTING = '[[rules]]\nname = "deletes"\neffect = "confirm"\ngrant = "always"'


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="module")
async def chromium() -> AsyncGenerator[Browser]:
    async with browsing() as found:
        yield found


async def focused(page: Page) -> str:
    return await page.evaluate("document.activeElement.id")


async def test_a_call_appears_without_a_reload_and_is_allowed_by_mouse(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page:
        await log_in(page, served)
        await expect(page.get_by_text("No call is waiting for an answer.")).to_be_visible()
        await page.evaluate("document.body.dataset.loaded = 'once'")

        async with asking(served, 3) as asked:
            await expect(rows(page)).to_contain_text("Requires confirmation")
            await expect(rows(page)).to_contain_text("desk-agent")
            await expect(page).to_have_title("(1) Approvals · sayso")
            shown = await opened(page)
            await expect(shown).to_contain_text("May “desk-agent” run “Delete customer")
            await shown.get_by_role("button", name="Allow once", exact=True).click()

            assert '"success": true' in await asked.text()
        await expect(rows(page)).to_contain_text("Ran in")
        await expect(dialog(page)).to_have_count(0)
        assert await focused(page) == "open-1"
        await expect(page).to_have_title("Approvals · sayso")
        await expect(page.locator("body")).to_have_attribute("data-loaded", "once")
        assert (await served.newest()).state == "used"


async def test_a_row_comes_up_within_a_second(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page, AsyncExitStack() as clients:
        await log_in(page, served)
        await page.evaluate(
            "new MutationObserver(() => { for (const row of document.querySelectorAll('#rows li'))"
            " (window.seen ??= {})[row.id] ??= Date.now() / 1000; })"
            ".observe(document.getElementById('live'), {childList: true, subtree: true})"
        )
        took: list[float] = []
        for number in (1, 2, 3):
            await clients.enter_async_context(asking(served, number))
            await expect(rows(page)).to_have_count(number)
            seen = await page.evaluate(f"seen['approval-{number}']")
            took.append(seen - (await served.newest()).created)
        # The best of three: what else the machine does meanwhile is not the console's.
        assert min(took) < 1.0


async def test_five_hundred_questions_are_shown_found_and_answered(
    chromium: Browser, served: Served
) -> None:
    approvals = served.gateway.guard.approvals
    async with watched(chromium, served) as page, asking(served, 1):
        await log_in(page, served)
        await expect(rows(page)).to_have_count(1)
        question = (await served.newest()).question

        async def ask(number: int) -> None:
            arguments = {"customer_id": number}
            # One caller has fewer open questions than that.
            caller = f"caller-{number // 40}"
            asked = replace(question, subject=caller, binding=f"b{number}", arguments=arguments)
            await approvals.ask(asked)

        async with anyio.create_task_group() as group:
            for number in range(2, 501):
                group.start_soon(ask, number)
        await expect(page).to_have_title("(500) Approvals · sayso")
        await expect(rows(page)).to_have_count(50)
        await expect(page.get_by_text("500 calls are waiting")).to_be_visible()

        await page.get_by_role("link", name="Show more (450 pending)").click()
        await expect(rows(page)).to_have_count(100)
        await page.keyboard.press("/")
        await page.keyboard.type("customer_id 499")
        await expect(rows(page)).to_have_count(1)
        shown = await opened(page)
        await expect(shown).to_contain_text("customer_id 499")
        await shown.get_by_role("button", name="Deny").click()
        await expect(rows(page)).to_contain_text("Denied at")
        await expect(page).to_have_title("(499) Approvals · sayso")


async def test_a_call_is_denied_by_keyboard_alone(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page, asking(served, 3), asking(served, 4) as asked:
        await page.goto(served.login.link())
        await expect(page.get_by_role("button", name="Log in")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(rows(page)).to_have_count(2)
        # Its button is shown by the scripts: from then on they hear the keys.
        await expect(page.get_by_role("button", name="Notify me")).to_be_visible()
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        await page.keyboard.press("Escape")

        await page.keyboard.press("j")
        await page.keyboard.press("j")
        await page.keyboard.press("j")
        await page.keyboard.press("k")
        await page.keyboard.press("j")
        assert await focused(page) == "open-2"
        await page.keyboard.press("Enter")
        deny = dialog(page).get_by_role("button", name="Deny")
        await expect(deny).to_be_focused()
        await expect(deny).to_be_enabled()
        assert await deny.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"
        await page.keyboard.press("Enter")

        assert "A person denied this call" in await asked.text()
        await expect(rows(page).nth(1)).to_contain_text("Denied at")
        assert await focused(page) == "open-2"


async def test_letters_open_and_only_then_answer(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served) as page, asking(served, 3) as asked:
        await log_in(page, served)
        await expect(rows(page)).to_be_visible()
        await page.keyboard.press("j")
        await page.keyboard.press("a")
        await expect(dialog(page)).to_be_visible()
        await page.keyboard.press("a")
        await expect(dialog(page).get_by_role("button", name="Deny")).to_be_enabled()
        assert (await served.newest()).state == "pending"

        await page.keyboard.press("Escape")
        assert await focused(page) == "open-1"
        assert (await served.newest()).state == "pending"
        await page.keyboard.press("Enter")
        await expect(dialog(page).get_by_role("button", name="Deny")).to_be_enabled()
        await page.keyboard.press("a")
        assert '"success": true' in await asked.text()


async def test_without_javascript_a_reload_and_a_plain_form_do_it(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, java_script_enabled=False) as page:
        await log_in(page, served)

        async with asking(served, 3) as asked:
            await expect(rows(page)).to_have_count(0)
            with anyio.fail_after(LIMIT):
                while await rows(page).count() == 0:
                    await page.reload()
            await rows(page).get_by_role("link", name="Delete customer").click()
            await page.get_by_role("button", name="Allow once", exact=True).click()

            assert '"success": true' in await asked.text()
        await expect(page.get_by_text("Allowed at").first).to_be_visible()


async def test_what_is_being_read_stays_when_more_comes_in(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await log_in(page, served)
        link = rows(page).first.get_by_role("link")
        await link.focus()
        before = await link.bounding_box()

        async with asking(served, 4):
            await expect(rows(page)).to_have_count(2)
            await expect(page).to_have_title("(2) Approvals · sayso")
            assert await link.bounding_box() == before
            await expect(link).to_be_focused()
            await served.answer(is_allowed=False)
            await expect(rows(page).nth(1)).to_contain_text("Denied at")
            await expect(rows(page)).to_have_count(2)
            assert await link.bounding_box() == before


async def test_a_question_that_is_answered_elsewhere_says_so_in_its_place(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3) as asked:
        await log_in(page, served)
        shown = await opened(page)
        await shown.get_by_text("Add a message").click()
        await shown.get_by_role("textbox").fill("half a sentence")

        await served.answer(is_allowed=False)

        await expect(shown.locator(".settled")).to_contain_text("by amy (terminal)")
        await expect(shown.locator(".settled")).to_be_focused()
        await expect(shown.get_by_role("button")).to_have_count(0)
        await page.keyboard.press("Escape")
        await expect(rows(page)).to_contain_text("by amy (terminal)")
        await expect(page).to_have_title("Approvals · sayso")
        assert "A person denied this call" in await asked.text()


async def test_two_people_at_once_answer_once(chromium: Browser, served: Served) -> None:
    async with (
        watched(chromium, served, tolerated="Failed to load resource") as one,
        watched(chromium, served, tolerated="Failed to load resource") as other,
        asking(served, 3) as asked,
    ):
        for page in (one, other):
            await log_in(page, served)
            await opened(page)
        # Neither is told of the other: both press before any word of it can come.
        for page in (one, other):
            await page.route("**/approvals/*/end*", lambda route: route.fulfill(status=204))
        async with anyio.create_task_group() as group:
            group.start_soon(dialog(one).get_by_role("button", name="Allow once").first.click)
            group.start_soon(dialog(other).get_by_role("button", name="Deny").click)
        await asked.text()

        late = other if (await served.newest()).state == "used" else one
        await expect(dialog(late)).to_contain_text("The question was already answered")
        await late.keyboard.press("Escape")
        for page in (one, other):
            await expect(rows(page)).to_contain_text("in the console")


async def test_a_second_click_cannot_answer_what_has_just_come_up(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await log_in(page, served)
        await expect(rows(page)).to_be_visible()
        await page.evaluate("performance.now = () => 1000")
        await rows(page).get_by_role("link").click()
        for name in ("Deny", "Allow once"):
            button = dialog(page).get_by_role("button", name=name, exact=True)
            await expect(button).to_be_disabled()
            await button.click(force=True)
        assert (await served.newest()).state == "pending"

        await page.mouse.click(2, 2)
        await expect(dialog(page)).to_be_visible()


async def test_whoever_goes_on_clicking_or_typing_answers_nothing_until_they_rest(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await log_in(page, served)
        await expect(rows(page)).to_be_visible()
        await page.evaluate("performance.now = () => 10000")
        await rows(page).get_by_role("link").click()
        allow = dialog(page).get_by_role("button", name="Allow once", exact=True)
        await expect(allow).to_be_visible()
        box = await allow.bounding_box()
        assert box is not None
        spot = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        now = 10_000
        for press in ("click", "Space", "click", "ArrowDown", "Enter", "click"):
            now += 700
            await page.evaluate("now => { performance.now = () => now }", now)
            if press == "click":
                await page.mouse.click(*spot)
            else:
                await allow.focus()
                await page.keyboard.press(press)
        await page.evaluate("now => { performance.now = () => now }", now + 100)
        await page.mouse.move(*spot)
        await page.mouse.down()
        await page.evaluate("now => { performance.now = () => now }", now + 9000)
        await page.mouse.up()
        await expect(dialog(page)).to_be_visible()
        assert (await served.newest()).state == "pending"
        # The clock was set, so no timer has enabled the buttons; word of the gateway does.
        await page.evaluate("dispatchEvent(new Event('online'))")
        await expect(allow).to_be_enabled()

        await page.mouse.click(*spot)
        await expect(dialog(page)).to_have_count(0)
        assert (await served.newest()).state in {"approved", "used"}


async def test_a_page_says_when_its_session_has_ended(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, tolerated="401") as page, asking(served, 3):
        await log_in(page, served)
        shown = await opened(page)
        (cookie,) = await page.context.cookies()
        # The stream would notice too, and sometimes before the click, which then sends nothing.
        silence = "addEventListener('htmx:sse:error', event => event.stopPropagation(), true)"
        await page.evaluate(silence)
        # So would the page's own look, every five seconds while it hears nothing.
        await page.route("**/approvals/waiting", lambda route: route.fulfill(status=304))

        await served.login.close_session(cookie.get("value", ""))
        await shown.get_by_role("button", name="Deny").click()
        await expect(shown.get_by_text("You are logged out.")).to_be_visible()
        await expect(shown).to_contain_text("Nothing was answered.")
        await expect(shown.get_by_role("button", name="Deny")).to_be_disabled()
        assert (await served.newest()).state == "pending"


async def test_a_page_that_rests_hears_of_the_end_of_its_session(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, tolerated="401") as page, asking(served, 3):
        await log_in(page, served)
        await expect(rows(page)).to_be_visible()
        (cookie,) = await page.context.cookies()

        await served.login.close_session(cookie.get("value", ""))

        await expect(page.get_by_text("You are logged out.")).to_be_visible()


async def test_a_page_whose_session_ends_before_its_stream_opens_stays_and_says_so(
    chromium: Browser, served: Served
) -> None:
    async def close_first(route: Route) -> None:
        (cookie,) = await page.context.cookies()
        await served.login.close_session(cookie.get("value", ""))
        await route.continue_()

    async with watched(chromium, served, tolerated="401") as page, asking(served, 3):
        await page.route("**/events", close_first)
        # Without its stream, the page shows only what was asked before it was opened.
        await served.newest()
        await log_in(page, served)

        await expect(page.get_by_text("You are logged out.")).to_be_visible()
        await expect(rows(page)).to_be_visible()


async def test_nothing_can_be_answered_while_the_gateway_is_gone(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served, tolerated="net::ERR") as page, asking(served, 3):
        await log_in(page, served)
        shown = await opened(page)
        deny = shown.get_by_role("button", name="Deny")

        await page.context.set_offline(offline=True)
        await expect(shown.get_by_text("sayso does not answer.")).to_be_visible()
        await expect(deny).to_be_disabled()

        await page.context.set_offline(offline=False)
        await expect(deny).to_be_enabled()
        await expect(shown.get_by_text("sayso does not answer.")).to_be_hidden()
        await page.keyboard.press("d")
        await expect(rows(page)).to_contain_text("Denied at")


async def test_going_back_shows_what_became_of_a_question(
    chromium: Browser, served: Served
) -> None:
    async with watched(chromium, served) as page, asking(served, 3):
        await log_in(page, served)
        await opened(page)
        await page.goto(f"{served.base}/console/tools")
        await served.answer(is_allowed=False)

        await page.go_back()

        await expect(page.get_by_text("No call is waiting for an answer.")).to_be_visible()
        await expect(page.locator("#recent")).to_contain_text("by amy (terminal)")
        await expect(page.get_by_role("button", name="Allow once")).to_have_count(0)


async def test_an_approved_call_shows_how_far_it_is_and_is_cancelled(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        serving(tmp_path, "--pace", "60") as served,
        watched(chromium, served) as page,
        calling(served, "migrate_database", {}) as asked,
    ):
        await log_in(page, served)
        row = page.locator("#rows > li")
        await expect(row).to_be_visible()
        await page.keyboard.press("j")
        await page.keyboard.press("Enter")
        await expect(dialog(page).get_by_role("button", name="Deny")).to_be_enabled()
        await page.keyboard.press("a")
        await expect(row.get_by_role("progressbar")).to_have_attribute("value", "1")
        await expect(row).to_contain_text("Done:")

        await row.get_by_role("button", name="Cancel the call").click()

        assert "A person stopped this call" in await asked.text()
        await expect(row).to_contain_text("Outcome unknown")
        await expect(row.get_by_role("progressbar")).to_have_count(0)


async def test_a_reviewer_changes_the_arguments(chromium: Browser, served: Served) -> None:
    async with watched(chromium, served, tolerated="403") as page, asking(served, 3) as asked:
        await log_in(page, served)
        shown = await opened(page)
        await page.keyboard.press("e")
        await expect(shown.get_by_label("customer_id")).to_be_focused()
        await shown.get_by_label("customer_id").fill('"five"')
        await page.keyboard.press("Enter")
        await shown.get_by_role("button", name="Allow once with these changes").click()
        await expect(shown.get_by_role("alert")).to_contain_text("does not match the tool")
        assert (await served.newest()).state == "pending"

        await shown.get_by_label("customer_id").fill("5")
        allow = shown.get_by_role("button", name="Allow once with these changes")
        await press(allow, page.locator("dialog[open]"))

        assert '"success": true' in await asked.text()
        await expect(rows(page)).to_contain_text("Ran in")
        assert (await served.newest()).edit == {"customer_id": 5}


async def test_an_answer_for_the_session_is_spelt_out_and_serves_the_next_call(
    chromium: Browser, tmp_path: Path
) -> None:
    policy = load_policy(LASTING)
    async with (
        serving(tmp_path, policy=lambda: policy) as served,
        watched(chromium, served) as page,
    ):
        await log_in(page, served)
        async with asking(served, 3) as asked:
            shown = await opened(page)
            await shown.get_by_text("Allow for longer").click()
            button = shown.get_by_role("button", name="Allow for this session, this tool")
            await expect(button).to_have_accessible_description(
                "Every call of this tool by “desk-agent”, with any arguments, runs without "
                "asking until “desk-agent” has made no call for 30 minutes."
            )
            await button.click()
            assert '"success": true' in await asked.text()
        async with asking(served, 4) as again:
            assert '"success": true' in await again.text()


async def test_a_page_that_nobody_looks_at_lets_go_of_its_stream_and_still_counts(
    chromium: Browser, served: Served
) -> None:
    permissions = ["notifications"]
    async with watched(chromium, served, permissions=permissions) as page:
        await log_in(page, served)
        await page.evaluate(
            "window.told = []; window.Notification = class {"
            " static permission = 'granted';"
            " static requestPermission() { return 'granted'; }"
            " constructor(title, { body }) { told.push(body); } }; 0"
        )
        await page.get_by_role("button", name="Notify me on this desktop").click()
        await expect(page.get_by_role("button", name="Stop desktop")).to_be_visible()
        await page.wait_for_function("main._htmx?.sse?.reader")
        await page.evaluate(
            "Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
        await page.wait_for_function("!main._htmx.sse?.reader")
        async with asking(served, 3):
            await expect(page).to_have_title("(1) Approvals · sayso")
            assert await page.evaluate("told") == ["One call is waiting for your answer."]
            await expect(rows(page)).to_have_count(0)
            await page.evaluate(
                "delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))"
            )
            await expect(rows(page)).to_be_visible()
