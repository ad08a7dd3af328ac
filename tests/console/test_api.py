"""The API for screens: who sees and answers what, and that all of it is as its document says."""

from functools import partial

import httpx2
import pytest
from tests.console.conftest import DELETE, Bench
from tests.console.screening import CHAT, SCREENS, Desk, make_app, make_dispatcher, told

from sayso.access import Screens
from sayso.console.api.authentication import TokenAuthentication
from sayso.console.entry.roles import Role
from sayso.policy import Principal, load_policy

pytestmark = pytest.mark.anyio

API = "/api/v1"
OWN = "/console/api/v1"


@pytest.fixture
async def desk(bench: Bench) -> Desk:
    return make_dispatcher(bench)


async def test_whoever_may_look_sees_what_waits_and_may_not_answer(desk: Desk) -> None:
    await desk.bench.call()
    async with desk.screen(await desk.key("wall", "staff")) as screen:
        (waiting,) = told(await screen.get(f"{API}/approvals"))["approvals"]
        assert (waiting["number"], waiting["state"]) == (1, "pending")
        assert waiting["sentence"].startswith(
            "This may delete, overwrite or send something: Delete customer 41"
        )
        assert waiting["may_answer"] is False
        refused = await screen.post(f"{API}/approvals/1/answer", json={"verdict": "allow"})
        assert told(refused, 403)["code"] == "role"
    assert (await desk.bench.find()).state == "pending"


async def test_whoever_may_answer_does_once(desk: Desk) -> None:
    await desk.bench.call()
    async with desk.screen(await desk.key("amy", "finance")) as screen:
        body = {"verdict": "allow", "message": "go on", "seen": ""}
        allowed = told(await screen.post(f"{API}/approvals/1/answer", json=body))
        late = told(await screen.post(f"{API}/approvals/1/answer", json=body), 409)
    assert (allowed["state"], allowed["answered_by"]) == ("approved", "key:amy")
    assert allowed["answers"][0]["message"] == "go on"
    assert late["code"] == "late"
    assert not (await desk.bench.call()).get("isError")


async def test_nobody_answers_their_own_call_whatever_their_role(desk: Desk) -> None:
    await desk.bench.call(subject="key:robot")
    async with desk.screen(await desk.key("robot", "finance")) as screen:
        (waiting,) = told(await screen.get(f"{API}/approvals"))["approvals"]
        assert waiting["may_answer"] is False
        assert "another person must answer" in waiting["bar"]
        refused = await screen.post(f"{API}/approvals/1/answer", json={"verdict": "allow"})
        barred = told(refused, 403)
        assert barred["code"] == "barred"
        assert barred["detail"].startswith("key:robot made this call, so another")
    assert (await desk.bench.find()).state == "pending"


async def test_a_caller_without_a_role_for_screens_sees_its_tools_and_no_question(
    desk: Desk,
) -> None:
    await desk.bench.call()
    desk.bench.policy = load_policy(
        '[[rules]]\nname = "hide"\neffect = "hide"\nwhen = { tool = "customer_delete" }'
    )
    async with desk.screen(await desk.key("robot", "agent"), origin="") as screen:
        (seen,) = told(await screen.get(f"{API}/tools"))["tools"]
        assert (seen["name"], seen["level"]) == ("studio__customers_list", "read")
        assert told(await screen.get(f"{API}/tools/{seen['name']}")) == seen
        hidden = told(await screen.get(f"{API}/tools/studio__customer_delete"), 404)
        assert hidden == told(await screen.get(f"{API}/tools/studio__nothing"), 404)
        for path in ("approvals", "approvals/1", "events", "me"):
            assert told(await screen.get(f"{API}/{path}"), 403)["code"] == "role"


async def test_a_stranger_learns_only_how_to_come_in(desk: Desk) -> None:
    await desk.bench.call()
    for key in ("", "sayso_nothing"):
        async with desk.screen(key) as screen:
            for path in ("tools", "approvals", "approvals/1", "events", "me"):
                answer = await screen.get(f"{API}/{path}")
                assert told(answer, 401)["code"] == "refused"
                assert answer.headers["www-authenticate"].startswith("Bearer")
            answer = await screen.post(f"{API}/approvals/1/answer", json={"verdict": "allow"})
            assert told(answer, 401)["code"] == "refused"
    assert (await desk.bench.find()).state == "pending"


async def test_without_a_word_about_screens_no_caller_answers(bench: Bench) -> None:
    desk = make_dispatcher(bench, None)
    await bench.call()
    async with desk.screen(await desk.key("amy", "finance", "approver"), origin="") as screen:
        assert told(await screen.get(f"{API}/approvals"), 403)["code"] == "role"


async def test_on_a_machine_of_one_person_only_the_console_answers(bench: Bench) -> None:
    desk = Desk(bench, make_app(bench, None, SCREENS))
    await bench.call()
    async with desk.screen(origin="") as agent, desk.seat(Role.ADMIN, "console") as seat:
        assert len(told(await agent.get(f"{API}/tools"))["tools"]) == 2
        refused = await agent.post(f"{API}/approvals/1/answer", json={"verdict": "allow"})
        assert told(refused, 403)["code"] == "role"
        allowed = await seat.post(f"{OWN}/approvals/1/answer", json={"verdict": "allow"})
        assert told(allowed)["answered_by"] == "console"


async def test_a_session_opens_the_console_and_not_the_api_of_tokens(desk: Desk) -> None:
    await desk.bench.call()
    async with desk.seat(Role.APPROVER) as seat:
        assert told(await seat.get(f"{API}/approvals"), 401)["code"] == "refused"
        me = told(await seat.get(f"{OWN}/me"))
        assert (me["person"], me["may_answer"]) == ("amy", True)
        assert me["csrf"] == seat.headers["x-csrf-token"]
        for token in ("", "x", f"{me['csrf']}0"):
            seat.headers["x-csrf-token"] = token
            body = {"verdict": "allow"}
            refused = await seat.post(f"{OWN}/approvals/1/answer", json=body)
            assert told(refused, 403)["code"] == "csrf"
    assert (await desk.bench.find()).state == "pending"


async def test_a_page_of_an_allowed_origin_may_call_with_a_token_and_no_other_page(
    desk: Desk,
) -> None:
    key = await desk.key("wall", "staff")
    for origin, is_allowed in (
        (CHAT, True),
        ("https://chat.example:444", False),
        ("http://chat.example", False),
        ("https://evil.chat.example", False),
        ("https://CHAT.example", False),
        ("null", False),
    ):
        async with desk.screen(key, origin=origin) as screen:
            asked = {"access-control-request-method": "POST"}
            before = await screen.options(f"{API}/approvals/1/answer", headers=asked)
            answer = await screen.get(f"{API}/approvals")
        for one in (before, answer):
            assert one.headers["vary"] == "Origin"
            assert "access-control-allow-credentials" not in one.headers
            said = one.headers.get("access-control-allow-origin")
            assert said == (origin if is_allowed else None)
        assert (before.status_code, answer.status_code) == (
            (204, 200) if is_allowed else (403,) * 2
        )
        allowed = before.headers.get("access-control-allow-headers")
        assert allowed == ("Authorization, Content-Type, Last-Event-ID" if is_allowed else None)


def test_a_name_that_sayso_gives_to_others_is_nobody_at_a_screen() -> None:
    door = TokenAuthentication(None, SCREENS)  # pyright: ignore[reportArgumentType] - not asked
    someone = partial(Principal, scopes=frozenset[str](), roles=frozenset({"finance"}))
    assert door.session_of(someone("amy", client="chat")) is not None
    assert door.session_of(someone("key:amy")) is not None
    for name in ("console", "Key:amy", "client:amy", "token:amy"):
        assert door.session_of(someone(name, client="chat")) is None
    assert door.session_of(someone("amy", scopes=None)) is None
    narrow = Screens(roles=SCREENS.roles, clients=frozenset({"chat"}), people=frozenset({"amy"}))
    door = TokenAuthentication(None, narrow)  # pyright: ignore[reportArgumentType] - not asked
    assert door.session_of(someone("amy", client="chat")) is not None
    assert door.session_of(someone("amy", client="agent")) is None
    assert door.session_of(someone("bob", client="chat")) is None


async def test_questions_come_in_pages_with_no_gap_and_nothing_twice(desk: Desk) -> None:
    for number in range(1, 8):
        await desk.bench.call(arguments={"customer_id": number})
    async with desk.screen(await desk.key("amy", "finance")) as screen:
        for number in (2, 4, 6):
            body = {"verdict": "deny"}
            told(await screen.post(f"{API}/approvals/{number}/answer", json=body))
        assert await pages(screen, "pending") == [[1, 3], [5, 7]]
        assert await pages(screen, "settled") == [[6, 4], [2]]
        for wrong in ("state=x", "limit=0", "limit=101", "limit=1.5", "cursor=", "cursor=-1"):
            answer = await screen.get(f"{API}/approvals?{wrong}")
            assert told(answer, 400)["code"] == "parameter", wrong


async def pages(screen: httpx2.AsyncClient, state: str) -> list[list[int]]:
    """The numbers of all questions, by page."""
    found: list[list[int]] = []
    where: dict[str, str] = {"state": state, "limit": "2"}
    while True:
        page = told(await screen.get(f"{API}/approvals", params=where))
        found.append([one["number"] for one in page["approvals"]])
        if page["next_cursor"] is None:
            return found
        where["cursor"] = page["next_cursor"]


async def test_an_edit_runs_as_it_was_sent_and_must_fit_the_tool(desk: Desk) -> None:
    schema = {"type": "object", "properties": {"customer_id": {"type": "integer"}}}
    desk.bench.shelf.raws[0] = {**DELETE, "inputSchema": schema}
    await desk.bench.call()
    async with desk.screen(await desk.key("amy", "finance")) as screen:
        where = f"{API}/approvals/1/answer"
        for edit in ({"customer_id": "x"}, {}, {"customer_id": 41}):
            answer = await screen.post(where, json={"verdict": "allow", "edit": edit})
            assert told(answer, 403)["code"] == "barred", edit
        body = {"verdict": "allow", "edit": {"customer_id": 42}}
        told(await screen.post(where, json=body))
    await desk.bench.call()
    assert [one.arguments for one in desk.bench.ran] == [{"customer_id": 42}]


async def test_an_answer_to_arguments_that_somebody_changed_does_not_count(desk: Desk) -> None:
    desk.bench.policy = load_policy(
        '[[rules]]\nname = "two"\neffect = "confirm"\nreviewers = { count = 2 }'
    )
    await desk.bench.call()
    where = f"{API}/approvals/1/answer"
    async with (
        desk.screen(await desk.key("amy", "finance")) as amy,
        desk.screen(await desk.key("bob", "finance")) as bob,
    ):
        seen = told(await bob.get(f"{API}/approvals/1"))["seen"]
        body = {"verdict": "allow", "edit": {"customer_id": 42}}
        assert told(await amy.post(where, json=body))["state"] == "pending"
        body = {"verdict": "allow", "seen": seen}
        assert told(await bob.post(where, json=body), 409)["code"] == "changed"
        now = told(await bob.get(f"{API}/approvals/1"))
        assert (now["edit"], len(now["answers"])) == ({"customer_id": 42}, 1)
        twice = await amy.post(where, json={"verdict": "allow", "seen": now["seen"]})
        assert told(twice, 409)["code"] == "twice"
        body = {"verdict": "allow", "seen": now["seen"]}
        assert told(await bob.post(where, json=body))["state"] == "approved"


async def test_an_answer_may_hold_for_longer_as_far_as_its_question_lets(desk: Desk) -> None:
    await desk.bench.call()
    async with desk.screen(await desk.key("amy", "finance")) as screen:
        where = f"{API}/approvals/1/answer"
        body = {"verdict": "allow", "span": "always"}
        assert told(await screen.post(where, json=body), 403)["code"] == "barred"
        (one, _) = told(await screen.get(f"{API}/approvals/1"))["lasting"]
        assert one["value"] == "session-call"
        body = {"verdict": "allow", "span": "session", "is_for_arguments": True}
        told(await screen.post(where, json=body))
    (grant,) = await desk.bench.gateway.guard.approvals.list_grants()
    assert grant.given_by == "key:amy"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b'{"verdict": "allow", "verdict": "deny"}', 400),
        (b"[]", 422),
        (b'{"verdict": "yes"}', 422),
        (b'{"verdict": true}', 422),
        (b'{"verdict": "allow", "is_for_arguments": 1}', 422),
        (b'{"verdict": "allow", "edit": []}', 422),
        (b'{"verdict": "allow", "by": "bob"}', 422),
        (b'{"verdict": "allow", "message": "' + b"x" * 2001 + b'"}', 422),
        (b'{"verdict": "\\ud800"}', 400),
        (b'{"verdict": "allow", "\\ud800": 1}', 400),
        ('{"verdict": "allow"}'.encode("utf-16"), 400),
        (b'{"verdict": "allow", "message": "\xff"}', 400),
        (b" " * 300_000, 413),
    ],
)
async def test_what_is_no_answer_answers_nothing(desk: Desk, body: bytes, status: int) -> None:
    await desk.bench.call()
    sent = {"content-type": "application/json"}
    async with desk.screen(await desk.key("amy", "finance")) as screen:
        where = f"{API}/approvals/1/answer"
        assert told(await screen.post(where, content=body, headers=sent), status)["code"] == "body"
        plain = {"content-type": "text/plain"}
        told(await screen.post(where, content=b'{"verdict": "allow"}', headers=plain), 415)
        for number in ("0", "01", "2", "x", "9" * 30):
            answer = await screen.post(f"{API}/approvals/{number}/answer", json={"verdict": "deny"})
            assert told(answer, 404)["code"] == "absent"
    assert (await desk.bench.find()).state == "pending"


async def test_an_unknown_version_is_a_problem(desk: Desk) -> None:
    async with desk.screen(await desk.key("wall", "staff")) as screen:
        unknown = await screen.get("/api/v2/tools")
    assert unknown.headers["content-type"] == "application/problem+json"
