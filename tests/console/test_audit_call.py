"""One call of the log: all that is on record, its conversation, a rule and a test made of it."""

import contextlib
import html
import re
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from tests.console.conftest import Bench, answer
from tests.console.test_approvals import plain

from sayso.audit import AuditLog, open_audit
from sayso.audit.upkeep import erase_subject
from sayso.guard import UnknownToolError
from sayso.policy import load_policy
from sayso.schema.redaction import MASK

pytestmark = pytest.mark.anyio


async def newest_call(bench: Bench) -> str:
    (row, *_) = await bench.store.records.newest(limit=1)
    return row.call


@asynccontextmanager
async def page_of(bench: Bench, end: str = "") -> AsyncGenerator[httpx2.Response]:
    """The page of the newest call."""
    async with bench.browser() as browser:
        yield await browser.get(f"/console/audit/{await newest_call(bench)}{end}")


def snippet_of(page: httpx2.Response) -> str:
    """The text that the page shows to copy."""
    found = re.search(r'<pre class="source" id="snippet">\n(.*?)</pre>', page.text, re.DOTALL)
    assert found, plain(page.text)
    return html.unescape(found[1])


async def test_one_call_shows_all_its_lines(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as browser:
        await answer(browser, "allow")
        await bench.call()
        page = plain((await browser.get(f"/console/audit/{await newest_call(bench)}")).text)

    assert page.index("About to be sent") < page.index("Ended : It ran.")
    for shown in (
        "approval 1",
        "customer_id number 41",
        "declared by the server",
        "asks a person: it may destroy or overwrite something by the mode “guarded”",
        "Allowed at",
        "in the console out of band",
        "in no chain",
        "Definition",
        "digest of the real arguments",
    ):
        assert shown in page, shown


async def test_a_line_shows_its_place_in_the_chain(bench: Bench) -> None:
    async with open_audit(bench.store, bench.gateway.keys, clock=bench.clock) as log:
        bench_log(bench, log)
        await bench.call("studio__customers_list", {})
        async with page_of(bench) as page:
            assert f"Line 3, 3 in chain {log.writer}" in plain(page.text)
            assert '"mac": "' in html.unescape(page.text)
            assert '"salt"' not in html.unescape(page.text)


def bench_log(bench: Bench, log: AuditLog) -> None:
    """Have the guard write to this log."""
    object.__setattr__(bench.gateway.guard, "audit", log)


async def test_a_call_that_was_refused_at_once_has_a_page_too(bench: Bench) -> None:
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__no_such_tool")

    async with page_of(bench) as page:
        assert page.status_code == 200
        assert "studio__no_such_tool" in page.text
        assert "Make a rule" not in page.text
    async with page_of(bench, "/rule") as page:
        assert page.status_code == 404


@pytest.mark.parametrize(
    "call", ["0123", "%00", "..", "a/b", "%20", "0123/rule", "0123/conversation"]
)
async def test_a_call_that_is_not_there_is_not_found(bench: Bench, call: str) -> None:
    async with bench.browser() as browser:
        assert (await browser.get(f"/console/audit/{call}")).status_code in (303, 307, 404)


async def test_an_erased_call_says_what_is_gone(bench: Bench) -> None:
    async with open_audit(bench.store, bench.gateway.keys, clock=bench.clock) as log:
        bench_log(bench, log)
        await bench.call("studio__customers_list", {"secret_plan": "x"}, subject="amy")
        call = await newest_call(bench)
        await erase_subject(log, "amy")
        async with bench.browser() as browser:
            page, talk, rule, test, listed = [
                await browser.get(f"/console/audit{end}")
                for end in (
                    f"/{call}",
                    f"/{call}/conversation",
                    f"/{call}/rule",
                    f"/{call}/test",
                    "",
                )
            ]

    assert "The personal data of this call was erased" in page.text
    assert "the conversation cannot be shown" in talk.text
    assert "with exactly these arguments" not in rule.text
    assert test.status_code == 200
    for shown in (page, talk, rule, test, listed):
        assert "amy" not in shown.text
        assert "secret_plan" not in shown.text


async def test_a_conversation_ends_with_a_long_silence(bench: Bench) -> None:
    for minutes, name, client in (
        (0, "before", "desk-agent"),
        (40, "first", "desk-agent"),
        (20, "other", "desk-agent-2"),
        (5, "second", "desk-agent"),
        (29, "third", "desk-agent"),
        (31, "after", "desk-agent"),
    ):
        bench.clock.now += minutes * 60
        await bench.call("studio__customers_list", {"step": name}, client=client)
    rows = await bench.store.records.newest(limit=100)
    second = next(row.call for row in rows if '"second"' in (row.payload or ""))

    async with bench.browser() as browser:
        page = plain((await browser.get(f"/console/audit/{second}/conversation")).text)

    assert re.findall(r"step “(\w+)”", page) == ["first", "second", "third"]
    assert "Not all calls of this conversation" not in page


async def test_a_long_conversation_says_that_it_goes_on(bench: Bench) -> None:
    for _ in range(102):
        await bench.call("studio__customers_list", {})

    async with page_of(bench, "/conversation") as page:
        assert "Not all calls of this conversation are shown." in page.text


async def test_a_rule_made_of_a_call_is_about_that_call(bench: Bench) -> None:
    arguments: dict[str, Any] = {
        "customer_id": 41,
        "note": 'two\nlines “and” \u202e more \\ "',
        "tags": ["a", {"b": 1.5, "c": True}],
        "nothing": None,
        "api_key": "sk-live-0123456789abcdef",
        "a.b": 1,
        "*": 1,
    }
    await bench.call(arguments=arguments)

    async with page_of(bench, "/rule?effect=deny&client=1&subject=1&arguments=1") as page:
        (rule,) = load_policy(snippet_of(page)).rules
        (table,) = tomllib.loads(snippet_of(page))["rules"]

    assert (str(rule.effect), table["when"]["tool"]) == ("deny", "customer_delete")
    assert (table["when"]["client"], table["when"]["subject"]) == ("desk-agent", "local")
    kept = {name: one["equals"] for name, one in table["when"]["arguments"].items()}
    assert kept == {name: arguments[name] for name in ("customer_id", "note", "tags")}
    for name in ("nothing", "api_key", "a.b", "*"):
        assert f"The argument “ {name} ” is omitted" in plain(page.text)
    assert MASK not in snippet_of(page)


async def test_a_rule_fits_a_name_that_is_a_glob_and_nothing_else(bench: Bench) -> None:
    bench.shelf.raws[0] = {**bench.shelf.raws[0], "name": "drop[a]*"}
    await bench.call("studio__drop[a]*")

    async with page_of(bench, "/rule?effect=allow") as page:
        (rule,) = load_policy(snippet_of(page)).rules

    (_, tool) = rule.when
    assert tool.wanted == "drop[[]a][*]"


async def test_an_effect_that_there_is_not_is_a_refusal(bench: Bench) -> None:
    await bench.call()

    async with page_of(bench, "/rule?effect=explode") as page:
        assert 'effect = "deny"' in snippet_of(page)


async def test_half_a_character_makes_no_rule_and_no_test(bench: Bench) -> None:
    await bench.call(client="half\ud800")

    for end in ("/rule?client=1", "/test"):
        async with page_of(bench, end) as page:
            assert "cannot be written in TOML" in page.text
            assert "snippet" not in page.text
    async with page_of(bench, "/rule") as page:
        assert 'tool = "customer_delete"' in snippet_of(page)


async def test_a_client_without_a_name_makes_no_rule_about_it(bench: Bench) -> None:
    await bench.call(client=" ")

    async with page_of(bench, "/rule?client=1") as page:
        assert "No rule can be made from this call" in page.text


async def test_a_test_made_of_a_call_passes_until_the_policy_changes(bench: Bench) -> None:
    await bench.call()
    async with page_of(bench, "/test") as page:
        (case,) = tomllib.loads(snippet_of(page))["cases"]
        assert "It passes under the current policy." in page.text
    strict = load_policy('[[rules]]\nname = "no"\neffect = "deny"\nwhen = { tool = "customer_*" }')
    object.__setattr__(bench.gateway.guard, "policy", lambda: strict)
    async with page_of(bench, "/test") as page:
        assert "It fails under the current policy: expected confirm, got deny" in plain(page.text)

    assert case["expect"] == "confirm"
    assert case["tool"]["destructive"] is True
    assert case["arguments"] == {"customer_id": 41}
    assert case["principal"] == {"subject": "local", "client": "desk-agent"}
