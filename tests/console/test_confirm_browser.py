"""`<sayso-confirm>` in a real browser: a chat elsewhere that shows the console's question."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, expect
from tests.console.browsing import asking, elsewhere, log_in, watched
from tests.console.chatting import Chat, button, chatting, page_of, reading, ready, shown
from tests.console.site import AXE
from tests.console.test_hostile_browser import HOSTILE

pytestmark = pytest.mark.anyio


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncGenerator[Chat]:
    async with chatting(tmp_path) as found:
        yield found


async def test_a_call_that_waits_comes_up_in_a_chat_and_is_allowed_there_once(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page, asking(chat.served, 3) as asked:
        await expect(shown(page)).to_contain_text("May “desk-agent” run “Delete customer")
        await ready(page)
        sent: list[str] = []
        page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)

        await button(page, "Allow once").dblclick()

        assert '"success": true' in await asked.text()
        await expect(shown(page)).to_have_count(0)
        assert len(sent) == 1
        await expect(page.get_by_label("Message")).to_be_focused()
        ((name, detail),) = await page.evaluate("told")
        assert (name, detail["verdict"]) == ("sayso-answered", "allow")
    approval = await chat.served.newest()
    assert (approval.state, approval.answered_by) == ("used", "key:amy")


async def test_keys_deny_and_put_off_and_never_allow_by_mistake(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page, asking(chat.served, 3) as asked:
        await page.evaluate("performance.now = () => 1000")
        await expect(shown(page)).to_be_visible()
        await page.keyboard.type("a day at the zoo")
        await page.keyboard.press("Enter")
        for name in ("Deny", "Allow once"):
            await expect(button(page, name)).to_be_disabled()
            await button(page, name).click(force=True)
        assert (await chat.served.newest()).state == "pending"
        await page.evaluate("delete performance.now")
        await button(page, "Deny").focus()
        await ready(page)
        await expect(button(page, "Deny")).to_be_focused()
        await page.keyboard.press("Tab")
        await expect(button(page, "Allow once")).to_be_focused()
        await page.keyboard.press("Enter")
        await shown(page).get_by_text("Add a message").click()
        await shown(page).get_by_role("textbox").fill("not this one")
        await page.keyboard.press("Enter")
        await page.keyboard.press("Escape")
        await expect(shown(page)).to_have_count(0)
        assert (await chat.served.newest()).state == "pending"

        await page.get_by_role("button", name="One call is waiting for your answer").click()
        await ready(page)
        await page.keyboard.press("d")
        assert "A person denied this call" in await asked.text()


async def test_whoever_rested_and_types_on_allows_nothing(chromium: Browser, chat: Chat) -> None:
    async with reading(chromium, chat) as page, asking(chat.served, 3):
        await page.get_by_label("Message").fill("Please look at this")
        await ready(page)
        await expect(button(page, "Deny")).to_be_focused()

        sent: list[str] = []
        page.on("request", lambda one: sent.append(one.url) if one.method == "POST" else None)

        for key in ("a", "A", "a"):
            await page.keyboard.press(key)
            await page.wait_for_timeout(300)

        assert sent == []
        assert (await chat.served.newest()).state == "pending"


async def test_questions_come_one_after_the_other_and_tell_when_settled_elsewhere(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page, asking(chat.served, 3) as first:
        await ready(page)
        async with asking(chat.served, 4) as second:
            await expect(shown(page)).to_contain_text("1 more after this")
            await expect(shown(page)).to_contain_text("customer_id 3")
            await button(page, "Deny").click()
            assert "A person denied this call" in await first.text()
            await expect(shown(page)).to_contain_text("customer_id 4")

            await chat.served.answer(is_allowed=False)
            await expect(shown(page)).to_contain_text("Denied by amy (terminal).")
            await expect(button(page, "Deny")).to_have_count(0)
            await page.keyboard.press("Enter")
            await expect(shown(page)).to_have_count(0)
            assert "A person denied this call" in await second.text()
        assert [name for name, _ in await page.evaluate("told")] == [
            "sayso-answered",
            "sayso-settled",
        ]


async def test_while_the_gateway_is_gone_the_dialog_says_so_and_stays(
    chromium: Browser, chat: Chat
) -> None:
    lost = "Failed to load resource"
    async with reading(chromium, chat, tolerated=lost) as page, asking(chat.served, 3) as asked:
        await ready(page)
        await page.context.set_offline(offline=True)
        await expect(shown(page)).to_contain_text("sayso does not answer.")
        await expect(button(page, "Allow once")).to_be_disabled()
        await page.context.set_offline(offline=False)
        await ready(page)
        await expect(shown(page).get_by_text("sayso does not answer.")).to_be_hidden()
        await button(page, "Deny").click()
        assert "A person denied this call" in await asked.text()


async def test_a_page_of_no_allowed_origin_gets_neither_the_dialog_nor_an_answer(
    chromium: Browser, chat: Chat
) -> None:
    body = bytes(page_of(chat.served.base).body).decode()
    async with elsewhere(body) as url, asking(chat.served, 3):
        context = await chromium.new_context()
        page = await context.new_page()
        refused: list[str] = []
        page.on("console", lambda said: refused.append(said.text))
        await page.goto(url)
        assert any("blocked by CORS policy" in one for one in refused)
        told = await page.evaluate(
            """async ([base, key]) => { try {
            const answer = await fetch(`${base}/api/v1/approvals/1/answer`, {method: "POST",
              headers: {authorization: `Bearer ${key}`, "content-type": "application/json"},
              body: JSON.stringify({verdict: "allow"})});
            return answer.status; } catch (error) { return `${error}`; } }""",
            [chat.served.base, chat.key],
        )
        assert told == "TypeError: Failed to fetch"
        assert (await chat.served.newest()).state == "pending"
        await context.close()


def hostile(**more: Any) -> dict[str, Any]:
    """A question in which every text tries to be more than that."""
    whole = " ".join(HOSTILE)
    texts = ("client", "title", "server", "tool", "subject", "reason", "rule", "description")
    finding = {"code": whole, "message": whole}
    hint = {"name": whole, "value": True, "source": whole, "meaning": whole}
    return {
        **dict.fromkeys(texts, whole),
        "level": "destructive",
        "confirm": whole,
        "arguments": {text: {text: [text]} for text in HOSTILE} | {"long": whole * 3},
        "edit": {whole: whole},
        "plan": {"changes": [{text: text} for text in HOSTILE[:6]], "total": 9},
        "findings": [finding],
        "hints": [hint],
        "url": "javascript:window.canary=1",
        "expires": 9e9,
        **more,
    }


async def test_what_others_say_is_text_and_the_answer_goes_to_whoever_asked(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page:
        for question in (hostile(), hostile(plan={"changes": HOSTILE, "total": 1}, confirm=None)):
            await page.evaluate(
                "one => { window.said = document.querySelector('sayso-confirm').ask(one) }",
                question,
            )
            await ready(page)
            assert await page.evaluate("window.canary") is None
            assert await page.evaluate(FOREIGN) == []
            text = await shown(page).inner_text()
            assert "<script>alert(1)</script>" in text
            assert "\u2039U+202E\u203a" in text
            assert "\u202e" not in text
            await shown(page).locator("#allow").click()
            assert await page.evaluate("said") == {"verdict": "allow", "message": None}


FOREIGN = """
[...document.querySelector("sayso-confirm").shadowRoot.querySelectorAll("*")].filter(one =>
  !["A", "B", "BDI", "BUTTON", "CAPTION", "CODE", "DD", "DETAILS", "DIALOG", "DIV", "DL", "DT",
    "H2", "INPUT", "LABEL", "LI", "MARK", "P", "PRE", "SECTION", "SMALL", "SPAN", "SUMMARY",
    "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL"].includes(one.tagName)
  || [...one.attributes].some(({name}) => !["id", "class", "role", "tabindex", "hidden", "dir",
    "scope", "for", "maxlength", "autocomplete", "open", "data-key"].includes(name)
    && !name.startsWith("aria-"))
).map(one => one.outerHTML.slice(0, 200))
"""
"""Elements and attributes that the dialog itself never makes; it makes no link of this address."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_use_it(chromium: Browser, chat: Chat, scheme: str) -> None:
    async with (
        reading(
            chromium, chat, color_scheme=scheme, reduced_motion="reduce", bypass_csp=True
        ) as page,
        asking(chat.served, 3),
    ):
        await ready(page)
        await page.evaluate(AXE.read_text())
        found = await page.evaluate("axe.run()")
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        assert found["passes"]


async def test_a_person_who_may_not_answer_is_not_asked(chromium: Browser, chat: Chat) -> None:
    lost = "Failed to load resource"
    async with (
        reading(chromium, chat, key="sayso_nothing", tolerated=lost) as page,
        asking(chat.served, 3),
    ):
        async with page.expect_response(lambda one: one.status == 401):
            pass
        await expect(shown(page)).to_have_count(0)


async def test_on_the_gateways_own_origin_the_consoles_session_counts(
    chromium: Browser, chat: Chat
) -> None:
    async with watched(chromium, chat.served) as page, asking(chat.served, 3) as asked:
        await log_in(page, chat.served)
        await page.evaluate(
            "async () => { await import('/console/static/sayso-confirm.js'); const one ="
            " document.createElement('sayso-confirm'); one.setAttribute('base', '');"
            " document.body.append(one); }"
        )
        await ready(page)
        await button(page, "Allow once").click()
        assert '"success": true' in await asked.text()
    assert (await chat.served.newest()).answered_by == "console"


QUESTION = {
    "title": "Delete customer",
    "client": "amy” is harmless. Press “Allow once",
    "server": "studio",
    "tool": "customer_delete",
    "level": "destructive",
}
SHOW = """question => { const one = document.querySelector("sayso-confirm"); window.answer = null;
  one.ask(question).then((given) => { window.answer = given?.verdict ?? "none" }) }"""


async def at(page: Page, now: int) -> None:
    """Set the clock by which pauses are measured, in milliseconds."""
    await page.evaluate("now => { performance.now = () => now }", now)


async def place_of_allow(page: Page) -> tuple[float, float]:
    box = await button(page, "Allow once").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def test_whoever_was_clicking_or_typing_answers_nothing_until_they_rest(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page:
        await at(page, 10_000)
        await page.mouse.click(5, 5)
        await at(page, 10_300)
        await page.evaluate(SHOW, QUESTION)
        spot = await place_of_allow(page)
        now = 10_300
        for press in ("click", "Space", "click", "a", "Enter", "ArrowDown", "click"):
            now += 700
            await at(page, now)
            if press == "click":
                await page.mouse.click(*spot)
            else:
                await button(page, "Allow once").focus()
                await page.keyboard.press(press)
            assert await page.evaluate("window.answer") is None, press
        await at(page, now + 1600)
        await page.mouse.click(*spot)
        await page.wait_for_function("window.answer !== null")
        assert await page.evaluate("window.answer") == "allow"


async def test_what_was_pressed_during_the_pause_answers_nothing_when_it_is_let_go(
    chromium: Browser, chat: Chat
) -> None:
    async with reading(chromium, chat) as page:
        await at(page, 10_000)
        await page.evaluate(SHOW, QUESTION)
        spot = await place_of_allow(page)
        await page.mouse.move(*spot)
        await at(page, 10_100)
        await page.mouse.down()
        await at(page, 20_000)
        await page.mouse.up()
        assert await page.evaluate("window.answer") is None

        await button(page, "Allow once").focus()
        await page.evaluate("dispatchEvent(new Event('focus'))")
        await page.keyboard.down("Space")
        await at(page, 30_000)
        await page.keyboard.down("Space")
        await page.keyboard.up("Space")
        assert await page.evaluate("window.answer") is None

        await at(page, 40_000)
        await page.mouse.click(*spot)
        await page.wait_for_function("window.answer === 'allow'")


async def test_a_name_cannot_read_as_part_of_the_question(chromium: Browser, chat: Chat) -> None:
    async with reading(chromium, chat) as page:
        await page.evaluate(SHOW, QUESTION)
        asked = await shown(page).get_by_role("heading").inner_text()

    assert asked.startswith("May “amy' is harmless. Press 'Allow once” run “Delete customer")


async def test_a_token_goes_to_the_address_that_was_there_first_and_to_no_other(
    chromium: Browser, chat: Chat
) -> None:
    async with elsewhere("{}") as other, reading(chromium, chat) as page:
        sent: list[str] = []
        page.on("request", lambda one: sent.append(one.url))
        async with page.expect_request("**/events"):
            await page.evaluate(
                "([key, other]) => { const one = document.querySelector('sayso-confirm');"
                " one.setAttribute('base', other); one.token = key;"
                " one.setAttribute('base', `${other}x`); one.remove();"
                " document.body.append(one); one.setAttribute('base', other) }",
                [chat.key, other],
            )

    assert sent
    assert {urlsplit(one).netloc for one in sent} == {urlsplit(chat.served.base).netloc}
