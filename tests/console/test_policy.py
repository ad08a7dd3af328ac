"""The policy page: the document, what decides most, and what if."""

import contextlib
import html
import re
from pathlib import Path

import httpx2
import pytest
from tests.console.conftest import Bench, csrf_of
from tests.console.test_approvals import plain

from sayso.errors import SaysoError
from sayso.guard import PolicyFile, UnknownToolError
from sayso.policy import load_policy
from sayso.store import RecordRow

pytestmark = pytest.mark.anyio

TEXT = """mode = "guarded"

[[rules]]
name = "customers are kept"
effect = "deny"
reason = "customers are archived"
when = { tool = "customer_delete", arguments = { customer_id = { range = { min = 100 } } } }

[[rules]]
name = "two for staff"
effect = "confirm"
require = "out_of_band"
reviewers = 2
expires = "15m"
when = { role = "staff" }

[[rules]]
name = "hidden from chat"
effect = "hide"
when = { client = "chat" }
"""


def ruled(bench: Bench, path: Path, text: str = TEXT) -> PolicyFile:
    """The guard under a policy file."""
    path.write_text(text)
    file = PolicyFile.open(path)
    object.__setattr__(bench.gateway.guard, "policy", file)
    return file


async def what_if(browser: httpx2.AsyncClient, **fields: str) -> str:
    """Fill in the form and send it."""
    csrf = csrf_of(await browser.get("/console/policy"))
    given = {"tool": "studio__customer_delete", "csrf": csrf, **fields}
    page = await browser.post("/console/policy/what-if", data=given)
    assert page.status_code == 200, page.text
    return plain(page.text)


async def test_without_a_file_the_mode_decides(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = plain((await browser.get("/console/policy")).text)

    assert "There is no policy file; set one with sayso gateway --policy FILE" in page
    assert "The mode guarded decides alone: reads and writes run;" in page
    assert "Policy file" not in page


async def test_the_document_stands_with_its_lines(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, tmp_path / "policy.toml")

    async with bench.browser() as browser:
        page = (await browser.get("/console/policy")).text
    lines = re.findall(
        r'<tr id="line-(\d+)"><th scope="row">\1</th><td><pre dir="auto">\n(.*?)</pre>', page
    )

    assert [html.unescape(text) for _, text in lines] == TEXT.splitlines()
    assert [int(number) for number, _ in lines] == [*range(1, len(lines) + 1)]


async def test_a_broken_file_is_told_while_the_last_good_one_counts(
    bench: Bench, tmp_path: Path
) -> None:
    file = ruled(bench, tmp_path / "policy.toml")
    file.path.write_text(f'{TEXT}\n[[rules]]\nname = "half"\n')
    with pytest.raises(SaysoError):
        file.reload()

    async with bench.browser() as browser:
        broken = plain((await browser.get("/console/policy")).text)
        file.path.write_text(TEXT)
        file.reload()
        mended = plain((await browser.get("/console/policy")).text)

    assert "The policy file is invalid" in broken
    assert "policy.toml:22: the key “effect” is missing" in broken
    assert "customers are kept" in broken
    assert "is invalid" not in mended


async def test_rules_are_counted_in_the_newest_lines(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, tmp_path / "policy.toml")
    await bench.call("studio__customers_list", {})
    await bench.call("studio__customers_list", {})
    await bench.call(arguments={"customer_id": 1})
    await bench.call(arguments={"customer_id": 100})
    with contextlib.suppress(UnknownToolError):
        await bench.call("studio__nothing", {})
    gone = '{"rule": "gone", "decision": "allow"}'
    await bench.store.records.append([RecordRow("old", bench.clock(), "outcome", gone)])

    async with bench.browser() as browser:
        page = await browser.get("/console/policy")
    (table,) = re.findall(r'<table class="list firings">.*?</table>', page.text, re.DOTALL)
    rows = [plain(row) for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", table)]

    assert "Of 5 calls since" in plain(page.text)
    assert [re.sub(r" \d\d:\d\d:\d\d$", "", row) for row in rows] == [
        "the mode “guarded” runs 2",
        "the rule “gone” runs 1",
        "the mode “guarded” asks a person 1",
        "customers are kept, line 3 is refused 1",
        "two for staff, line 9 asks a person 0 not in this time",
        "hidden from chat, line 17 is hidden 0 not in this time",
    ]
    assert '<a href="#line-3">' in table


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({"arguments": '{"customer_id": 100}'}, "The call is refused : customers are archived."),
        ({"arguments": '{"customer_id": 99}'}, "The call asks a person : it may destroy"),
        ({"arguments": ""}, "arguments.customer_id is not there"),
        ({"tool": "studio__customers_list"}, "The call runs : it only reads"),
        ({"roles": "staff"}, "2 people must approve."),
        ({"roles": "staff"}, "The answer must come out of band."),
        ({"roles": "staff"}, "The question expires after 15 min 0 s."),
        ({"client": "chat"}, "The tool is hidden from this caller"),
        ({"tool": "studio__nothing"}, "No server has a tool with this name."),
        ({"arguments": "{"}, "The arguments are not JSON"),
        ({"arguments": "[" * 2000}, "The arguments are not JSON"),
        ({"arguments": "[1]"}, "The arguments must be a JSON object"),
    ],
)
async def test_what_if_says_what_explain_says(
    bench: Bench, tmp_path: Path, fields: dict[str, str], shown: str
) -> None:
    ruled(bench, tmp_path / "policy.toml")

    async with bench.browser() as browser:
        assert shown in await what_if(browser, **fields)

    assert bench.ran == []
    assert await bench.store.records.newest() == []
    assert await bench.gateway.guard.approvals.newest() == []


async def test_what_if_in_a_mode_that_only_observes(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, tmp_path / "policy.toml", 'mode = "observe"\n[off]\nsubjects = ["zed"]\n')

    async with bench.browser() as browser:
        seen = await what_if(browser)
        off = await what_if(browser, subject="zed")

    assert "This is only recorded. If enforced, the call asks a person." in seen
    assert "The call is refused: the policy switches off the caller “zed”." in off


async def test_what_if_of_a_server_that_is_switched_off(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, tmp_path / "policy.toml", '[off]\nservers = ["studio"]\n')

    async with bench.browser() as browser:
        off = await what_if(browser)

    assert "The call is refused: the policy switches off the server “studio”." in off


async def test_what_if_of_a_first_use(bench: Bench, tmp_path: Path) -> None:
    ruled(bench, tmp_path / "policy.toml", 'first_use = "confirm"\n')

    async with bench.browser() as browser:
        assert "The call runs" in await what_if(browser, tool="studio__customers_list")
        first = await what_if(browser, tool="studio__customers_list", first_use="1")

    assert "The call asks a person" in first


async def test_a_server_that_cannot_be_asked_is_told(bench: Bench) -> None:
    bench.shelf.error = SaysoError("the server does not answer")

    async with bench.browser() as browser:
        assert "the server does not answer" in await what_if(browser)


async def test_a_call_on_record_fills_the_form(bench: Bench) -> None:
    await bench.call(arguments={"note": "a\u202eb\nc", "é": 1}, client="night", subject="amy")
    (row, *_) = await bench.store.records.newest(limit=1)

    async with bench.browser() as browser:
        page = await browser.get(f"/console/policy?call={row.call}")
        none = await browser.get("/console/policy?call=nothing")
    (arguments,) = re.findall(r'maxlength="60000">\n(.*?)</textarea>', page.text, re.DOTALL)

    assert 'value="studio__customer_delete"' in page.text
    assert 'value="amy"' in page.text
    assert html.unescape(arguments) == '{\n  "note": "a\\u202eb\\nc",\n  "é": 1\n}'
    assert none.status_code == 200


async def test_a_tool_leads_to_what_if_with_its_name_filled_in(bench: Bench) -> None:
    async with bench.browser() as browser:
        tool = await browser.get("/console/tools/studio__customer_delete")
        (link,) = re.findall(r'href="([^"]+)#what-if"', tool.text)
        page = await browser.get(link)
        none = await browser.get("/console/policy?tool=%E2%80%AE")

    assert 'name="tool" value="studio__customer_delete"' in page.text
    assert 'name="tool" value=""' in none.text


async def test_a_policy_that_is_no_file_shows_its_rules(bench: Bench) -> None:
    policy = load_policy(TEXT)
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)

    async with bench.browser() as browser:
        page = (await browser.get("/console/policy")).text

    assert "customers are kept" in page
    assert "#line-3" not in page
