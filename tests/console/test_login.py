"""The one-time link, the session it opens, and what is closed without one."""

import secrets
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.console.conftest import BASE, Bench, Clock, answer, csrf_of, token_of

from sayso.console.entry.login import LINK_SECONDS, SESSION_SECONDS, Login
from sayso.keys import Keyring
from sayso.store.database import Database
from sayso.store.sqlite import open_sqlite

pytestmark = pytest.mark.anyio

PAGES = [
    "/console/",
    "/console/approvals/live",
    "/console/approvals/1",
    "/console/tools",
    "/console/audit",
    "/console/audit/0123",
    "/console/audit/chain",
    "/console/audit/export",
    "/console/grants",
    "/console/policy",
]


KEYS = Keyring.of([bytes(range(32))])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Database]:
    store = open_sqlite(tmp_path / "sayso.db")
    yield store
    await store.close()


def make_login(store: Database, clock: Clock | None = None, keys: Keyring = KEYS) -> Login:
    return Login(f"{BASE}/", tokens=store.tokens, keys=keys, clock=clock or Clock())


async def test_a_link_leads_to_the_console_and_works_once(store: Database) -> None:
    login = make_login(store)
    link = login.link()

    session_id = await login.open_session(token_of(link))

    assert link.startswith(f"{BASE}/console/login?token=")
    assert session_id is not None
    assert await login.session(session_id) is not None
    assert await login.open_session(token_of(link)) is None


async def test_a_link_expires(store: Database) -> None:
    clock = Clock()
    login = make_login(store, clock)
    token = token_of(login.link())

    clock.now += LINK_SECONDS - 1
    assert await login.is_good(token)
    clock.now += 1
    assert not await login.is_good(token)
    assert await login.open_session(token) is None


@pytest.mark.parametrize("token", ["", "x", "\udcff", "å" * 500, "a.9999999999.b:c", ".."])
async def test_a_wrong_token_opens_nothing(store: Database, token: str) -> None:
    login = make_login(store)
    login.link()

    assert await login.open_session(token) is None
    assert await login.session(token) is None


async def test_a_link_is_no_session_and_a_session_no_link(store: Database) -> None:
    login = make_login(store)
    token = token_of(login.link())
    session_id = await login.open_session(token_of(login.link()))

    assert session_id is not None
    assert await login.session(token) is None
    assert await login.open_session(session_id) is None


async def test_who_has_other_keys_lets_nobody_in(store: Database) -> None:
    here = make_login(store)
    other = make_login(store, keys=Keyring.of([secrets.token_bytes(32)]))
    session_id = await other.open_session(token_of(other.link()))

    assert session_id is not None
    assert await here.session(session_id) is None
    assert await here.open_session(token_of(other.link())) is None


async def test_every_process_knows_the_same_links_and_sessions(store: Database) -> None:
    here = make_login(store)
    there = make_login(store)
    link = token_of(here.link())

    session_id = await there.open_session(link)
    assert session_id is not None
    assert await here.open_session(link) is None
    assert not await here.is_good(link)
    assert await here.session(session_id) == await there.session(session_id)

    await here.close_session(session_id)
    assert await there.session(session_id) is None


async def test_a_fresh_link_leaves_the_earlier_ones_good(store: Database) -> None:
    login = make_login(store)
    first, second = login.link(), login.link()

    assert first != second
    assert await login.is_good(token_of(first))
    assert await login.is_good(token_of(second))


async def test_a_clock_that_is_set_back_makes_no_link_work_twice(store: Database) -> None:
    clock = Clock()
    login = make_login(store, clock)
    token = token_of(login.link())
    assert await login.open_session(token) is not None

    clock.now -= 86_400

    assert await login.open_session(token) is None


async def test_a_session_ends_after_twelve_hours(store: Database) -> None:
    clock = Clock()
    login = make_login(store, clock)
    session_id = await login.open_session(token_of(login.link()))
    assert session_id is not None

    clock.now += SESSION_SECONDS - 1
    assert await login.session(session_id) is not None
    clock.now += 1
    assert await login.session(session_id) is None


async def test_what_is_kept_lets_nobody_in(store: Database) -> None:
    login = make_login(store)
    session_id = await login.open_session(token_of(login.link()))
    assert session_id is not None
    await login.close_session(session_id)

    kept = [row[0] for row in (await store.dump())["spent"]]
    assert len(kept) == 2
    for one in kept:
        name = one.rpartition(" ")[2]
        assert await login.session(name) is None
        assert await login.open_session(name) is None


async def test_looking_at_a_link_does_not_use_it_up(bench: Bench) -> None:
    async with bench.visitor() as browser:
        link = bench.login.link()
        for _ in range(2):
            page = await browser.get(link)
            assert page.status_code == 200
            assert token_of(link) in page.text
            assert "set-cookie" not in page.headers

        assert (await browser.head(link)).status_code == 200
        entered = await browser.post("/console/login", data={"token": token_of(link)})
        assert entered.headers["location"] == "/console/"


async def test_the_session_cookie_is_kept_from_scripts_and_from_other_sites(bench: Bench) -> None:
    async with bench.visitor() as browser:
        fields = {"token": token_of(bench.login.link())}
        cookie = (await browser.post("/console/login", data=fields)).headers["set-cookie"]

    name, *attributes = [part.strip() for part in cookie.split(";")]
    assert name.startswith("sayso_console_8321=")
    assert {one.lower() for one in attributes} == {
        "httponly",
        "max-age=43200",
        "path=/console",
        "samesite=strict",
    }


async def test_every_login_has_a_session_of_its_own(bench: Bench) -> None:
    async with bench.browser() as one, bench.browser() as other:
        cookies = [next(iter(browser.cookies.values())) for browser in (one, other)]
        tokens = [csrf_of(await browser.get("/console/")) for browser in (one, other)]

    assert len({*cookies, *tokens}) == 4


async def test_a_session_that_somebody_else_chose_is_not_taken_over(bench: Bench) -> None:
    async with bench.visitor() as browser:
        browser.cookies.set("sayso_console_8321", "chosen", path="/console")
        fields = {"token": token_of(bench.login.link())}
        entered = await browser.post("/console/login", data=fields)

    assert "chosen" not in entered.headers["set-cookie"]
    assert await bench.login.session("chosen") is None


@pytest.mark.parametrize("why", ["used", "expired", "wrong"])
async def test_a_link_that_is_no_good_says_so_and_offers_another(bench: Bench, why: str) -> None:
    link = bench.login.link()
    if why == "used":
        await bench.login.open_session(token_of(link))
    elif why == "expired":
        bench.clock.now += LINK_SECONDS
    else:
        link = f"{link}x"

    async with bench.visitor() as browser:
        for page in (
            await browser.get(link),
            await browser.post("/console/login", data={"token": token_of(link)}),
        ):
            assert page.status_code == 410
            assert "This link no longer works" in page.text
            assert "sayso console" in page.text
            assert "set-cookie" not in page.headers


async def test_a_used_link_leads_whoever_is_logged_in_to_the_console(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = await browser.get("/console/login?token=used")

    assert (page.status_code, page.headers["location"]) == (303, "/console/")


@pytest.mark.parametrize("path", PAGES)
async def test_a_visitor_sees_the_way_in_and_nothing_else(bench: Bench, path: str) -> None:
    await bench.call()

    async with bench.visitor() as browser:
        page = await browser.get(path)

    assert page.status_code == 401
    assert "sayso console" in page.text
    assert "customer" not in page.text.lower()


async def test_no_request_has_a_link_printed(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    async with bench.visitor() as browser:
        for path in ("/console/login/link", "/console/login"):
            answer = await browser.post(path)
            assert "token=" not in answer.text
        page = await browser.get("/console/login?sent")

    assert "sayso console" in page.text
    assert "token=" not in page.text
    assert "token=" not in "".join(capfd.readouterr())


async def test_a_browser_that_a_client_has_started_gets_no_session(store: Database) -> None:
    asked: list[int] = []

    def is_caller(port: int) -> bool:
        asked.append(port)
        return port == 1

    login = Login(BASE, tokens=store.tokens, keys=KEYS, is_caller=is_caller)

    assert await login.is_from_caller(1)
    assert not await login.is_from_caller(2)
    assert not await login.is_from_caller(None)
    assert asked == [1, 2]


async def test_nobody_answers_without_a_session(bench: Bench) -> None:
    await bench.call()

    async with bench.visitor() as browser:
        refused = await browser.post("/console/approvals/1/answer", data={"verdict": "allow"})

    assert refused.status_code == 401
    assert "Nothing was done" in refused.text
    assert (await bench.find()).state == "pending"


async def test_a_session_that_ended_answers_nothing(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        bench.clock.now += SESSION_SECONDS
        refused = await browser.post("/console/approvals/1/answer", data=fields)

    assert refused.status_code == 401
    assert (await bench.find()).answered_at is None


async def test_logging_out_ends_the_session_and_not_only_the_cookie(bench: Bench) -> None:
    await bench.call()

    async with bench.browser() as browser:
        session_id = next(iter(browser.cookies.values()))
        left = await browser.post(
            "/console/logout", data={"csrf": csrf_of(await browser.get("/console/"))}
        )

    assert left.headers["location"] == "/console/login"
    assert "max-age=0" in left.headers["set-cookie"].lower()
    assert await bench.login.session(session_id) is None


async def test_a_link_on_another_site_shows_how_to_go_on(bench: Bench) -> None:
    async with bench.visitor() as browser:
        page = await browser.get("/console/", headers={"sec-fetch-site": "cross-site"})

    assert '<a href="/console/">open the console</a>' in page.text


async def test_one_session_does_not_log_another_out(bench: Bench) -> None:
    await bench.call()
    async with bench.browser() as one, bench.browser() as other:
        await one.post("/console/logout", data={"csrf": csrf_of(await one.get("/console/"))})

        assert (await answer(other, "deny")).status_code == 303
