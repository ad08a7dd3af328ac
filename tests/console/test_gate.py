"""What every request passes, and what every answer carries."""

import httpx2
import pytest
from tests.console.conftest import BASE, Bench, csrf_of, token_of

from sayso.access import own_names
from sayso.console.gate import HEADERS
from sayso.errors import StoreError

pytestmark = pytest.mark.anyio

REFUSED = {
    "another site": {"origin": "https://evil.example"},
    "another port": {"origin": "http://127.0.0.1:9999"},
    "another scheme": {"origin": "https://127.0.0.1:8321"},
    "another loopback name": {"origin": "http://localhost:8321"},
    "an opaque origin": {"origin": "null"},
    "an empty origin": {"origin": ""},
    "a cross-site page": {"sec-fetch-site": "cross-site"},
    "a page on another port": {"sec-fetch-site": "same-site"},
    "no page at all": {"sec-fetch-site": "none"},
    "both, apart": {"origin": BASE, "sec-fetch-site": "cross-site"},
    "a sandboxed frame": {"origin": "null", "sec-fetch-site": "cross-site"},
}
TAKEN = {
    "the console": {"origin": BASE, "sec-fetch-site": "same-origin"},
    "an old browser": {"origin": BASE},
    "a page that hides where it is": {"origin": "null", "sec-fetch-site": "same-origin"},
    "no browser": {},
}
HOSTS = [
    "evil.example:8321",
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1:8321.evil",
    "",
]


async def press(browser: httpx2.AsyncClient, headers: dict[str, str]) -> httpx2.Response:
    fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
    return await browser.post("/console/approvals/1/answer", data=fields, headers=headers)


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED.keys())
async def test_a_form_from_elsewhere_is_refused(bench: Bench, headers: dict[str, str]) -> None:
    await bench.call()

    async with bench.browser() as browser:
        refused = await press(browser, headers)

    assert refused.status_code == 403
    assert "was not sent by the console" in refused.text
    assert (await bench.find()).state == "pending"


@pytest.mark.parametrize("headers", TAKEN.values(), ids=TAKEN.keys())
async def test_a_form_of_the_console_is_taken(bench: Bench, headers: dict[str, str]) -> None:
    await bench.call()

    async with bench.browser() as browser:
        assert (await press(browser, headers)).status_code == 303

    assert (await bench.find()).state == "approved"


@pytest.mark.parametrize("path", ["/console/login", "/console/logout"])
async def test_no_form_at_all_is_taken_from_elsewhere(bench: Bench, path: str) -> None:
    token = token_of(bench.login.link())

    async with bench.visitor() as browser:
        refused = await browser.post(
            path, data={"token": token}, headers={"origin": "https://evil.example"}
        )

    assert refused.status_code == 403
    assert await bench.login.is_good(token)


@pytest.mark.parametrize("token", [None, "", "wrong", "å", "other session"])
async def test_a_form_without_its_sessions_token_is_refused(
    bench: Bench, token: str | None
) -> None:
    await bench.call()

    async with bench.browser() as browser, bench.browser() as other:
        if token == "other session":
            token = csrf_of(await other.get("/console/"))
        fields = {"verdict": "allow"} if token is None else {"verdict": "allow", "csrf": token}
        refused = await browser.post("/console/approvals/1/answer", data=fields)

    assert refused.status_code == 403
    assert (await bench.find()).state == "pending"


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/console", "/console/", "/console/login", "/console/no"])
async def test_a_name_that_is_not_the_consoles_is_refused(
    bench: Bench, host: str, path: str
) -> None:
    async with bench.browser() as browser:
        refused = await browser.get(path, headers={"host": host})

    assert refused.status_code == 421
    assert "does not serve that host name" in refused.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8321", "localhost:8321", "LOCALHOST:8321", "[::1]:8321"]
)
async def test_every_loopback_name_will_do(bench: Bench, host: str) -> None:
    async with bench.visitor() as browser:
        assert (await browser.get("/console/login", headers={"host": host})).status_code == 200


def test_a_default_port_may_be_left_out() -> None:
    assert "127.0.0.1" in own_names("http://127.0.0.1:80").hosts
    assert "localhost" not in own_names("http://127.0.0.1:8080").hosts


async def test_every_answer_carries_the_headers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.call()
    link = bench.login.link()

    async with bench.browser() as browser, bench.visitor() as visitor:
        answers = [
            *[await browser.get(path) for path in ("/", "/console", "/console/", "/console/tools")],
            *[await browser.get(f"/console/static/{name}") for name in ("console.css", "no.css")],
            *[await browser.get(f"/console/approvals/{part}") for part in ("live", "1", "2", "x")],
            await browser.get("/console/audit"),
            await browser.get("/console/nothing"),
            await browser.post("/console/tools"),
            await browser.post("/console/logout", data={}),
            await browser.get("/console/", headers={"host": "evil.example"}),
            await browser.post("/console/", headers={"origin": "null"}),
            await visitor.get("/console/"),
            await visitor.get(link),
            await visitor.get(f"{link}x"),
        ]

        async def fail(*_: object, **__: object) -> None:
            raise StoreError("the database is locked", where="sayso.db")

        monkeypatch.setattr(bench.store.questions, "pending", fail)
        answers.append(await browser.get("/console/"))

    assert {one.status_code for one in answers} == {
        200,
        303,
        401,
        403,
        404,
        405,
        410,
        415,
        421,
        503,
    }
    for one in answers:
        assert {name: one.headers.get(name) for name in HEADERS} == HEADERS, one.request.url


async def test_a_failing_store_is_told_in_words(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreError("the disk is full", where="sayso.db", fix="Free some space.")

    async with bench.browser() as browser:
        monkeypatch.setattr(bench.store.questions, "pending", fail)
        page = await browser.get("/console/")

    assert page.status_code == 503
    assert "sayso.db: the disk is full. Free some space." in page.text


async def test_a_mistake_of_ours_shows_nothing_of_itself(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise ValueError("the secret in the message")

    async with bench.browser() as browser:
        monkeypatch.setattr(bench.store.questions, "pending", fail)
        # As a server does it: the error goes on to its log, after the answer.
        transport = httpx2.ASGITransport(bench.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(
            transport=transport, base_url=BASE, cookies=browser.cookies
        ) as served:
            page = await served.get("/console/")

    assert page.status_code == 500
    assert "See incident" in page.text
    assert "secret" not in page.text
    assert page.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{}", "application/json", 415),
        (b"csrf=1", "", 415),
        (b"a" * 10_000, "application/x-www-form-urlencoded", 413),
        (b"a=1&" * 20, "application/x-www-form-urlencoded", 400),
        ("å".encode(), "application/x-www-form-urlencoded", 400),
    ],
)
async def test_a_body_that_is_no_form_of_ours_is_refused(
    bench: Bench, content: bytes, kind: str, status: int
) -> None:
    async with bench.visitor() as browser:
        refused = await browser.post(
            "/console/login", content=content, headers={"content-type": kind}
        )

    assert refused.status_code == status
