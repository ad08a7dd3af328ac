"""Trying a tool from the console: the decision first, then one call through the guard."""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from html import unescape
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from tests.console.conftest import BASE, Bench, csrf_of
from tests.console.test_approvals import plain

from sayso.approvals import Answer
from sayso.audit import AuditLog
from sayso.connect import RpcError
from sayso.console import Login, make_routes
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.tools.tries import Tries, Try
from sayso.errors import UsageError
from sayso.policy import load_policy
from sayso.store import RecordRow

pytestmark = pytest.mark.anyio

DELETE = "studio__customer_delete"
LIST = "studio__customers_list"
ASKED = {
    "type": "object",
    "properties": {"customer_id": {"type": "integer", "minimum": 1}},
    "required": ["customer_id"],
}
LIMIT = 60


@pytest.fixture(autouse=True)
def arguments(bench: Bench) -> None:
    bench.shelf.raws[0]["inputSchema"] = ASKED


async def check(browser: httpx2.AsyncClient, tool: str = DELETE, **fields: str) -> httpx2.Response:
    """Press “Check it” on the page of a tool."""
    csrf = csrf_of(await browser.get(f"/console/tools/{tool}"))
    values = {"/customer_id": "41", **fields} if tool == DELETE else fields
    return await browser.post(f"/console/tools/{tool}/try", data={"csrf": csrf, **values})


def hidden(page: httpx2.Response) -> dict[str, str]:
    """The fields of the form that runs what the page shows."""
    form = page.text.partition("/run")[2].partition("</form>")[0]
    found = re.findall(r'name="(\w+)" value="([^"]*)"', form)
    assert found, plain(page.text)
    return {name: unescape(value) for name, value in found}


async def run(browser: httpx2.AsyncClient, tool: str = LIST, **fields: str) -> httpx2.Response:
    """Check a tool and run it; the page of the try once it has ended, or asks."""
    shown = await check(browser, tool)
    sent = await browser.post(f"/console/tools/{tool}/run", data={**hidden(shown), **fields})
    assert sent.status_code == 303, plain(sent.text)
    return await watch(browser, sent.headers["location"])


async def watch(browser: httpx2.AsyncClient, path: str) -> httpx2.Response:
    """The page of a try, once it no longer only runs."""
    with anyio.fail_after(LIMIT):
        while True:
            page = await browser.get(path)
            if "Running." not in page.text:
                return page
            await anyio.lowlevel.checkpoint()


async def ended(browser: httpx2.AsyncClient, page: httpx2.Response) -> httpx2.Response:
    """The page of a try, once it has ended."""
    with anyio.fail_after(LIMIT):
        while "Try it again" not in page.text:
            page = await browser.get(page.url.path)
    return page


def as_somebody(monkeypatch: pytest.MonkeyPatch, **who: Any) -> None:
    """Whoever logs in is somebody else, or may do less."""
    known = Login.session

    async def session(self: Login, session_id: str) -> Session | None:
        found = await known(self, session_id)
        return found and replace(found, **who)

    monkeypatch.setattr(Login, "session", session)


async def test_a_form_shows_what_would_become_of_the_call_and_sends_nothing(bench: Bench) -> None:
    async with bench.browser() as browser:
        words = plain((await check(browser)).text)

    assert "It would ask a person first" in words
    assert "because it may destroy or overwrite something by the mode “guarded”" in words
    assert '"customer_id": 41' in words
    assert "as this machine’s user, with the agent “console”" in words
    assert bench.ran == []
    assert await bench.gateway.guard.audit.newest() == []


async def test_what_is_wrong_stands_at_its_field(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await check(browser, **{"/customer_id": "0"})

    assert page.status_code == 422
    assert 'aria-describedby="f-0-about f-0-wrong" aria-invalid="true"' in page.text
    assert "0 is less than the minimum of 1" in plain(page.text)
    assert 'value="0"' in page.text
    assert "Run it" not in page.text
    assert await bench.gateway.guard.audit.newest() == []


async def test_a_call_that_reads_runs_at_once_and_is_on_record(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await run(browser)

    words = plain(page.text)
    assert "It ran." in words
    assert "done" in words
    (call,) = bench.ran
    assert (call.principal.subject, call.principal.client) == ("local", "console")
    assert {row.call for row in await bench.gateway.guard.audit.newest()} == {call.id}
    assert f"/console/audit/{call.id}" in page.text


async def test_an_end_that_is_on_record_a_moment_after_the_answer_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest, looks = AuditLog.newest, [1, 2]

    async def late(self: AuditLog, **by: Any) -> list[RecordRow]:
        rows = await newest(self, **by)
        if looks and any(row.event == "outcome" for row in rows):
            looks.pop()
            return [row for row in rows if row.event != "outcome"]
        return rows

    monkeypatch.setattr(AuditLog, "newest", late)
    async with bench.browser() as browser:
        page = await run(browser)

    assert "It ran." in plain(page.text)
    assert looks == []


async def test_a_call_that_must_ask_shows_its_question_and_runs_on_the_answer(
    bench: Bench,
) -> None:
    object.__setattr__(bench.gateway.guard, "patience", LIMIT)
    async with bench.browser() as browser:
        page = await run(browser, DELETE)
        words = plain(page.text)
        assert "run “ Delete customer · customer_id 41 ” on “ studio ”?" in words
        assert "This call is waiting for an answer." in words
        assert bench.ran == []

        data = {"csrf": csrf_of(page), "verdict": "allow"}
        assert (await browser.post("/console/approvals/1/answer", data=data)).status_code == 303
        (path,) = set(re.findall(r"/console/tries/[\w.-]+(?=/cancel)", page.text))
        with anyio.fail_after(LIMIT):
            while not bench.ran:
                await anyio.sleep(0.005)
        page = await ended(browser, await browser.get(path))

    assert "It ran." in plain(page.text)
    assert bench.ran[0].arguments == {"customer_id": 41}
    assert (await bench.find()).answered_by == "console"


async def test_a_call_that_waited_in_vain_can_be_made_again(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await ended(browser, await run(browser, DELETE))
        assert "No answer yet. Nothing was run." in plain(page.text)
        again = re.search(r'name="arguments" value="([^"]*)"', page.text)
        assert again
        data = {
            "csrf": csrf_of(page),
            "mode": "json",
            "do": "again",
            "arguments": again[1].replace("&#34;", '"'),
        }
        page = await browser.post(f"/console/tools/{DELETE}/try", data=data)

    assert 'name="/customer_id" type="text" value="41"' in page.text


async def test_a_call_that_the_policy_denies_cannot_be_sent(bench: Bench) -> None:
    policy = load_policy('[[rules]]\nname = "no"\neffect = "deny"\nreason = "not here"\n', "p.toml")
    object.__setattr__(bench.gateway.guard, "policy", lambda: policy)

    async with bench.browser() as browser:
        page = await check(browser)

    words = plain(page.text)
    assert "It would be refused , because not here by the rule “no”, line 1" in words
    assert "/run" not in page.text


async def test_a_form_that_is_sent_twice_runs_once(bench: Bench) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        sent = [await browser.post(f"/console/tools/{LIST}/run", data=data) for _ in range(3)]
        await watch(browser, sent[0].headers["location"])

    assert {one.headers["location"] for one in sent} == {sent[0].headers["location"]}
    assert len(bench.ran) == 1


async def test_a_form_that_another_process_has_run_does_not_run_here(bench: Bench) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        await bench.store.tokens.spend(
            f"console try {data['token']}", now=bench.clock(), expires=2e9
        )
        page = await browser.post(f"/console/tools/{LIST}/run", data=data)

    assert page.status_code == 409
    assert "The call was not run again." in page.text
    assert bench.ran == []


async def test_a_tool_that_has_changed_meanwhile_is_shown_again(bench: Bench) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        bench.shelf.raws[1] = {**bench.shelf.raws[1], "description": "It does more now."}
        page = await browser.post(f"/console/tools/{LIST}/run", data=data)

    assert "The tool has changed since you opened this page. Nothing was sent." in plain(page.text)
    assert bench.ran == []


@pytest.mark.parametrize(
    "wrong", [{"token": "x"}, {"token": ""}, {"arguments": "["}, {"arguments": "[]"}]
)
async def test_a_form_that_was_tampered_with_runs_nothing(
    bench: Bench, wrong: Mapping[str, str]
) -> None:
    async with bench.browser() as browser:
        data = {**hidden(await check(browser, LIST)), **wrong}
        page = await browser.post(f"/console/tools/{LIST}/run", data=data)

    assert page.status_code == 400
    assert bench.ran == []


async def test_arguments_that_do_not_fit_are_refused_by_the_guard_too(bench: Bench) -> None:
    async with bench.browser() as browser:
        data = {**hidden(await check(browser)), "arguments": '{"customer_id": 0}'}
        sent = await browser.post(f"/console/tools/{DELETE}/run", data=data)
        page = await watch(browser, sent.headers["location"])

    assert "these arguments do not fit the tool" in plain(page.text)
    assert bench.ran == []


async def test_a_try_that_runs_shows_how_far_it_is_and_can_be_cancelled(bench: Bench) -> None:
    bench.is_held = True
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        path = (await browser.post(f"/console/tools/{LIST}/run", data=data)).headers["location"]
        with anyio.fail_after(LIMIT):
            while "one of three" not in (page := await browser.get(path)).text:
                await anyio.sleep(0.005)
        assert '<progress id="bar" max="3" value="1">' in page.text
        live = await browser.get(f"{path}/live", params={"seen": "running"})
        assert "hx-refresh" not in live.headers

        sent = await browser.post(f"{path}/cancel", data={"csrf": csrf_of(page)})
        page = await browser.get(path)
        live = await browser.get(f"{path}/live", params={"seen": "running"})

    assert sent.headers["location"] == path
    assert "You cancelled it." in plain(page.text)
    assert "Outcome unknown. Check the result before you do anything else." in plain(page.text)
    assert live.headers["hx-refresh"] == "true"


async def test_a_try_that_fails_says_why(bench: Bench) -> None:
    bench.error = RpcError(-32000, "no room left")
    async with bench.browser() as browser:
        page = await run(browser)

    assert "It failed: The server returned an error: no room left" in plain(page.text)


async def test_a_result_is_a_tree_and_raw_text_and_hides_nothing(bench: Bench) -> None:
    bench.answer = {
        "content": [
            {"type": "text", "text": "in\u202evoice"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource_link", "uri": "https://example.com/", "name": "link"},
        ],
        "structuredContent": {"items": [{"id": number} for number in range(1000)], "a": None},
    }
    async with bench.browser() as browser:
        page = await run(browser)

    words = plain(page.text)
    assert "U+202E" in words
    assert "\u202e" not in page.text
    assert "image, image/png, about 3 bytes: not shown" in words
    assert "items 1,000 items" in words
    assert re.search(r"and \d{3} more; see the raw result", words)
    assert "more characters)" in words
    assert 'href="https://example.com' not in page.text
    assert len(page.text) < 200_000


async def test_a_try_is_its_persons_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        path = (await browser.post(f"/console/tools/{LIST}/run", data=data)).headers["location"]
        await watch(browser, path)
        as_somebody(monkeypatch, person="bo")

        assert (await browser.get(path)).status_code == 404
        assert (await browser.get(f"{path}/live")).status_code == 404
        csrf = csrf_of(await browser.get("/console/tools"))
        assert (await browser.post(f"{path}/cancel", data={"csrf": csrf})).status_code == 404


async def test_whoever_may_only_look_cannot_try(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST))
        as_somebody(monkeypatch, role=Role.VIEWER)
        page = await browser.get(f"/console/tools/{LIST}")
        answers = [
            await browser.post(f"/console/tools/{LIST}/{does}", data=data)
            for does in ("try", "run")
        ]

    assert "Trying a tool requires the role “approver”." in page.text
    assert "/try" not in page.text
    assert [one.status_code for one in answers] == [403, 403]
    assert bench.ran == []


async def test_a_try_needs_the_token_of_its_session(bench: Bench) -> None:
    async with bench.browser() as browser:
        data = hidden(await check(browser, LIST)) | {"csrf": "0" * 64}
        page = await browser.post(f"/console/tools/{LIST}/run", data=data)

    assert page.status_code == 403
    assert bench.ran == []


async def test_where_people_prove_who_they_are_nobody_answers_their_own_try(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_somebody(monkeypatch, person="amy")
    async with bench.browser() as browser:
        shown = await check(browser)
        assert "Another person must answer your question" in plain(shown.text)
        sent = await browser.post(f"/console/tools/{DELETE}/run", data=hidden(shown))
        await watch(browser, sent.headers["location"])

    approval = await bench.find()
    assert approval.question.subject == "amy"
    with pytest.raises(UsageError, match="amy made this call, so another person must answer"):
        await bench.gateway.guard.approvals.answer(
            1, Answer(is_allowed=True, by="amy", channel="console")
        )
    assert await bench.gateway.guard.approvals.answer(
        1, Answer(is_allowed=True, by="bo", channel="console")
    )


async def test_with_authentication_whoever_has_the_terminal_is_somebody_too(bench: Bench) -> None:
    bench.app.router.routes = make_routes(bench.gateway, bench.login, base_url=BASE, is_alone=False)
    async with bench.browser() as browser:
        shown = await check(browser)

    assert "Called as console, with the agent “console”" in plain(shown.text)
    assert "Another person must answer your question" in plain(shown.text)


async def test_a_tool_that_asks_for_scopes_is_unknown_to_who_holds_none(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.shelf.raws[1]["_meta"] = {"io.sayso/intent": {"scopes": ["crm.read"]}}
    as_somebody(monkeypatch, person="amy")
    async with bench.browser() as browser:
        shown = await check(browser, LIST)

    assert "as amy you may not see this tool" in plain(shown.text)
    assert "/run" not in shown.text


async def test_nobody_runs_more_than_a_few_tries_at_a_time(bench: Bench) -> None:
    bench.is_held = True
    async with bench.browser() as browser:
        paths: list[str] = []
        for _ in range(8):
            data = hidden(await check(browser, LIST))
            sent = await browser.post(f"/console/tools/{LIST}/run", data=data)
            paths.append(sent.headers["location"])
        data = hidden(await check(browser, LIST))
        page = await browser.post(f"/console/tools/{LIST}/run", data=data)
        csrf = csrf_of(await browser.get(paths[0]))
        for path in paths:
            await browser.post(f"{path}/cancel", data={"csrf": csrf})

    assert page.status_code == 429
    assert len(bench.ran) <= 8


async def test_the_form_turns_into_json_and_back(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await check(browser, do="json")
        text = re.search(r'<textarea id="f-0" name="/"[^>]*>\n([^<]*)</textarea>', page.text)
        assert text
        assert '"customer_id": 41'.replace('"', "&#34;") in text[1]
        page = await check(browser, **{"mode": "json", "/": '{"customer_id": 7}', "do": "fields"})
        assert 'name="/customer_id" type="text" value="7"' in page.text
        page = await check(browser, **{"mode": "json", "/": '{"other": 7}', "do": "fields"})
        assert "the fields cannot express" in page.text
        page = await check(browser, **{"mode": "json", "/": '{"customer_id": "x"}'})

    assert page.status_code == 422
    assert "is not of type" in plain(page.text)


async def test_what_a_person_types_comes_back_as_it_was(bench: Bench) -> None:
    bench.shelf.raws[1]["inputSchema"] = {
        "type": "object",
        "properties": {"note": {"type": "string"}, "n": {"type": "integer"}},
    }
    typed = "  first\nfamily 👩\u200d👩 </textarea><script>"
    async with bench.browser() as browser:
        page = await check(browser, LIST, **{"/note": typed, "/n": "x"})

    found = re.search(r'name="/note"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert found
    assert found[1].replace("&lt;", "<").replace("&gt;", ">") == typed


async def test_secrets_are_not_shown_again(bench: Bench) -> None:
    bench.shelf.raws[1]["inputSchema"] = {
        "type": "object",
        "properties": {"api_key": {"type": "string"}},
    }
    async with bench.browser() as browser:
        shown = await check(browser, LIST, **{"/api_key": "hunter2"})
        sent = await browser.post(f"/console/tools/{LIST}/run", data=hidden(shown))
        page = await watch(browser, sent.headers["location"])

    assert 'type="password"' in shown.text
    assert "hunter2" not in plain(shown.text)
    assert "hunter2" not in plain(page.text)
    assert bench.ran[0].arguments == {"api_key": "hunter2"}


async def test_a_try_of_another_process_is_looked_at_and_stopped_there(bench: Bench) -> None:
    there = Try("there.1", "amy", LIST, "List", "studio", "read", {}, "c1", 1.0)
    asked: list[tuple[str, str, Any]] = []

    class Post:
        name = "here"
        handlers: dict[str, Any] = {}  # noqa: RUF012 - one for this test

        async def send(self, to: str, kind: str, body: Any) -> Any:
            asked.append((to, kind, body))
            return asdict(there)

    tries = Tries(replace(bench.gateway, replica_client=Post()))  # pyright: ignore[reportArgumentType]
    found = await tries.look("there.1", "amy")
    assert found == there
    assert await tries.look("there.1", "bo") is None
    await tries.stop(there)

    assert asked[-1] == ("there", "console try stop", "there.1")


async def test_a_try_that_nobody_knows_is_no_page(bench: Bench) -> None:
    async with bench.browser() as browser:
        assert (await browser.get("/console/tries/here.0")).status_code == 404
        assert (await browser.get("/console/tools/studio__nothing")).status_code == 404
