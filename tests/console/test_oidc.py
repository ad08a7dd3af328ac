"""Logging in with an issuer: who comes in, as what, and every way in which nobody does."""

import base64
import json
import logging
from collections.abc import AsyncGenerator, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from tests.access.authority import STRANGER, confused, unsigned
from tests.console.conftest import Bench, answer, csrf_of, token_of
from tests.console.entering import SECRET, Entrance, make_entrance
from tests.console.issuer import Issuer, serve_issuer

from sayso.connect.fetch import Fetcher, open_fetcher
from sayso.console.entry.login import SESSION_SECONDS
from sayso.console.entry.oidc import FLOW_SECONDS
from sayso.policy import load_policy

pytestmark = pytest.mark.anyio

SESSION = "sayso_console_8321"
FLOW = f"{SESSION}_oidc"


@pytest.fixture(scope="module")
async def running() -> AsyncGenerator[Issuer]:
    async with serve_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(running: Issuer) -> Issuer:
    """The one provider of this file, as if it had just been started."""
    running.begin_anew()
    return running


@pytest.fixture
async def fetcher(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Fetcher]:
    monkeypatch.setenv("SAYSO_TEST_SECRET", SECRET)
    async with open_fetcher() as running:
        yield running


@pytest.fixture
def entrance(bench: Bench, issuer: Issuer, fetcher: Fetcher) -> Entrance:
    return make_entrance(bench, issuer, fetcher)


async def is_in(browser: httpx2.AsyncClient) -> bool:
    return (await browser.get("/console/")).status_code == 200


async def test_whoever_logs_in_with_the_issuer_comes_in_as_who_they_are(
    entrance: Entrance,
) -> None:
    async with entrance.visitor() as browser:
        entered = await entrance.log_in(browser)
        page = await browser.get("/console/")

    assert entered.status_code == 200
    assert "amy" in entered.text
    assert "who may view and answer" in entered.text
    assert 'content="0;url=/console/"' in entered.text
    assert page.status_code == 200
    assert "amy" in page.text
    (asked,) = entrance.issuer.asked
    assert asked["code_challenge_method"] == "S256"
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3


async def test_a_client_without_a_secret_proves_itself_by_pkce_alone(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    issuer.is_secret = False
    entrance = make_entrance(bench, issuer, fetcher, secret=None)
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 200


async def test_a_secret_may_go_in_the_form(bench: Bench, issuer: Issuer, fetcher: Fetcher) -> None:
    # The provider takes it in a header alone, so it refuses; what was sent is what counts here.
    entrance = make_entrance(bench, issuer, fetcher, is_in_body=True)
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 403


async def test_cookies_are_kept_from_scripts_and_from_other_sites(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        begun = await browser.get("/console/login/oidc")
        entered = await entrance.log_in(browser)

    def attributes(cookie: str) -> set[str]:
        return {part.strip().lower() for part in cookie.split(";")[1:]}

    flow = begun.headers["set-cookie"]
    assert attributes(flow) == {
        "httponly",
        "max-age=600",
        "path=/console/login/oidc",
        # It must come along when the issuer sends the browser back; it lets nobody in.
        "samesite=lax",
    }
    session, gone = entered.headers.get_list("set-cookie")
    assert session.startswith(f"{SESSION}=")
    assert attributes(session) == {
        "httponly",
        "max-age=43200",
        "path=/console",
        "samesite=strict",
    }
    assert gone.startswith(f'{FLOW}="";')


async def test_nothing_of_a_login_can_be_read_from_its_cookie(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        begun = await browser.get("/console/login/oidc")
    said = parse_qs(urlsplit(begun.headers["location"]).query)

    for name in ("state", "nonce"):
        assert said[name][0] not in begun.headers["set-cookie"]


@pytest.mark.parametrize(
    ("words", "may"),
    [
        (["guest"], "viewer"),
        (["staff"], "approver"),
        (["guest", "finance"], "approver"),
        (["platform", "guest"], "admin"),
    ],
)
async def test_the_issuers_words_bring_the_role_that_may_do_most(
    entrance: Entrance, words: list[str], may: str
) -> None:
    async with entrance.browser(roles=words) as browser:
        assert f"amy</bdi>, {may}" in (await browser.get("/console/")).text


async def test_roles_may_stand_inside_a_claim(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    entrance = make_entrance(bench, issuer, fetcher, claim="realm_access.roles")
    async with entrance.browser(realm_access={"roles": ["platform"]}) as browser:
        assert "amy</bdi>, admin" in (await browser.get("/console/")).text


async def test_everybody_whom_the_file_names_may_look_where_it_says_so(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    entrance = make_entrance(
        bench, issuer, fetcher, roles={"viewer": frozenset("*")}, people=frozenset({"amy"})
    )
    async with entrance.browser(roles=None) as browser:
        assert "amy</bdi>, viewer" in (await browser.get("/console/")).text
    issuer.person = {"sub": "eve"}
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 403


NOBODY: list[tuple[dict[str, Any], str]] = [
    ({"roles": ["cook"]}, "You have no role here"),
    ({"roles": []}, "You have no role here"),
    ({"roles": None}, "You have no role here"),
    ({"roles": "platform staff"}, "You have no role here"),
    ({"roles": ["*"]}, "You have no role here"),
    ({"roles": {"admin": True}}, "not valid"),
    ({"roles": [["platform"]]}, "not valid"),
    ({"sub": "console"}, "a reserved name"),
    ({"sub": "link"}, "a reserved name"),
    ({"sub": "local"}, "not valid"),
    ({"sub": "key:nightly"}, "not valid"),
    ({"sub": None}, "not valid"),
    ({"sub": ""}, "not valid"),
    ({"sub": 7}, "not valid"),
    ({"sub": "am\u202ey"}, "not valid"),
]


@pytest.mark.parametrize(("person", "told"), NOBODY)
async def test_whom_the_issuer_knows_and_sayso_does_not_comes_in_nowhere(
    entrance: Entrance, person: dict[str, Any], told: str
) -> None:
    entrance.issuer.person |= person
    async with entrance.visitor() as browser:
        refused = await entrance.log_in(browser)

        assert refused.status_code == 403
        assert told in refused.text
        assert f"{SESSION}=" not in refused.headers.get("set-cookie", "")
        assert not await is_in(browser)


CLAIMS: list[dict[str, Any]] = [
    {"nonce": "another"},
    {"nonce": None},
    {"aud": "another"},
    {"aud": None},
    {"aud": []},
    {"aud": ["sayso-console", "another"]},
    {"aud": ["sayso-console", "another"], "azp": "another"},
    {"azp": "another"},
    {"iss": "https://evil.example"},
    {"iss": None},
    {"exp": 1},
    {"exp": None},
    {"exp": "soon"},
    {"iat": None},
    {"iat": 9_999_999_999},
    {"nbf": 9_999_999_999},
    {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    {"at_hash": 7},
    {"auth_time": "yesterday"},
    {"amr": "pwd"},
    {"cnf": {"jkt": "x"}},
]


@pytest.mark.parametrize("claims", CLAIMS, ids=json.dumps)
async def test_an_id_token_that_is_not_for_this_login_lets_nobody_in(
    entrance: Entrance, claims: dict[str, Any]
) -> None:
    entrance.issuer.claims = claims
    async with entrance.visitor() as browser:
        refused = await entrance.log_in(browser)

        assert refused.status_code == 403
        assert "ID token is not valid here" in refused.text
        assert not await is_in(browser)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": ["sayso-console"]},
        {"aud": ["sayso-console", "another"], "azp": "sayso-console"},
        {"at_hash": "bSKYhMEmi7CrMtjaMV0P5Q"},
    ],
    ids=json.dumps,
)
async def test_an_id_token_may_say_more_of_whom_it_is_for(
    entrance: Entrance, claims: dict[str, Any]
) -> None:
    entrance.issuer.claims = claims
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 200


async def test_nobody_logs_in_under_the_name_of_another(entrance: Entrance) -> None:
    entrance.issuer.claims = {"act": {"sub": "administrator"}}
    async with entrance.visitor() as browser:
        refused = await entrance.log_in(browser)

        assert refused.status_code == 403
        assert "The token is delegated: another party acts for you." in refused.text
        assert not await is_in(browser)


def of_a_stranger(claims: dict[str, Any]) -> str:
    return Issuer().sign(claims, STRANGER)


def without_signature(claims: dict[str, Any]) -> str:
    return unsigned(claims, alg="none", typ="JWT").rpartition(".")[0] + "."


def changed(claims: dict[str, Any]) -> str:
    head, _, signature = Issuer().sign(claims).split(".")
    body = json.dumps({**claims, "roles": ["platform"]}).encode()
    return f"{head}.{base64.urlsafe_b64encode(body).rstrip(b'=').decode()}.{signature}"


FORGED: dict[str, Callable[[dict[str, Any]], str]] = {
    "without a signature": without_signature,
    "an algorithm that is none": lambda claims: unsigned(claims, alg="None"),
    "an empty signature": lambda claims: unsigned(claims, alg="RS256", kid="rsa-1"),
    "the public key as a secret": confused,
    "the key of somebody else": of_a_stranger,
    "changed after signing": changed,
    "empty": lambda _: "",
    "no token": lambda _: "a.b.c",
    "endless": lambda _: "x" * 100_000,
}


@pytest.mark.parametrize("how", FORGED)
async def test_a_forged_id_token_lets_nobody_in(entrance: Entrance, how: str) -> None:
    entrance.issuer.token = FORGED[how]
    async with entrance.visitor() as browser:
        refused = await entrance.log_in(browser)

        assert refused.status_code == 403
        assert not await is_in(browser)


async def test_an_answer_counts_in_the_browser_that_began_and_in_no_other(
    entrance: Entrance,
) -> None:
    async with entrance.visitor() as mine, entrance.visitor() as other:
        back = await entrance.sent_back(mine)
        # Somebody who has begun nothing, and somebody who has begun a login of their own.
        assert (await other.get(back)).status_code == 403
        await entrance.sent_back(other)
        assert (await other.get(back)).status_code == 403
        assert not await is_in(other)
        # What others tried has not used it up.
        assert (await mine.get(back)).status_code == 200


async def test_a_code_of_another_login_is_of_no_use(entrance: Entrance) -> None:
    async with entrance.visitor() as victim, entrance.visitor() as thief:
        stolen = parse_qs(urlsplit(await entrance.sent_back(victim)).query)["code"][0]
        own = parse_qs(urlsplit(await entrance.sent_back(thief)).query)["state"][0]
        back = f"/console/login/oidc/callback?code={stolen}&state={own}"

        refused = await thief.get(back)

        assert refused.status_code == 403
        assert not await is_in(thief)


async def test_an_answer_counts_once_on_every_replica(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    here, there = (make_entrance(bench, issuer, fetcher) for _ in range(2))
    async with here.visitor() as browser, there.visitor() as again:
        back = await here.sent_back(browser)
        again.cookies.set(FLOW, browser.cookies[FLOW], path="/console/login/oidc")

        # Begun here, ended there.
        assert (await again.get(back)).status_code == 200
        assert await is_in(again)
        refused = await browser.get(back)

    assert refused.status_code == 403
    assert "already used" in refused.text


async def test_a_login_takes_ten_minutes_at_most(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        back = await entrance.sent_back(browser)
        entrance.bench.clock.now += FLOW_SECONDS

        refused = await browser.get(back)

    assert "took too long" in refused.text


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "https://evil.example"},
        {"state": "another"},
        {"state": None},
        {"code": None},
        {"code": ""},
        {"code": "x" * 5000},
        {"error": "access_denied"},
    ],
    ids=str,
)
async def test_an_answer_that_is_not_the_issuers_own_lets_nobody_in(
    entrance: Entrance, change: dict[str, Any]
) -> None:
    entrance.issuer.answer = change
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 403
        assert not await is_in(browser)


async def test_an_answer_that_says_one_thing_twice_lets_nobody_in(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        back = await entrance.sent_back(browser)
        assert (await browser.get(f"{back}&code=other")).status_code == 403
        assert not await is_in(browser)


async def test_an_issuer_that_signs_its_answers_with_its_name_must_do_so(
    entrance: Entrance,
) -> None:
    entrance.issuer.metadata["authorization_response_iss_parameter_supported"] = True
    async with entrance.visitor() as browser:
        assert (await entrance.log_in(browser)).status_code == 403
        entrance.issuer.answer["iss"] = entrance.issuer.base
        assert (await entrance.log_in(browser)).status_code == 200


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"authorization_endpoint": "http://evil.example/authorize"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://evil.example/token"},
        {"token_endpoint": None},
        {"code_challenge_methods_supported": ["plain"]},
    ],
    ids=str,
)
async def test_an_issuer_that_cannot_be_believed_is_sent_nobody(
    entrance: Entrance, metadata: dict[str, Any]
) -> None:
    entrance.issuer.metadata = metadata
    async with entrance.visitor() as browser:
        refused = await browser.get("/console/login/oidc")

    assert refused.status_code == 503
    assert "location" not in refused.headers
    assert "evil" not in refused.text


async def test_an_issuer_that_is_down_is_told_and_no_link_takes_its_place(
    entrance: Entrance,
) -> None:
    entrance.issuer.is_down = True
    async with entrance.visitor() as browser:
        refused = await browser.get("/console/login/oidc")
        assert refused.status_code == 503
        fields = {"token": token_of(entrance.bench.login.link())}
        assert (await browser.post("/console/login", data=fields)).status_code == 410


ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "/console//evil.example",
    "/console/../mcp",
    "/console/%0d%0aSet-Cookie:x=y\r\n",
    "javascript:alert(1)",
    "/mcp",
    "console/tools",
    "/console/tools\nx",
    '/console/"><script>',
    "/console/;url=https://evil.example",
    f"/console/{'x' * 1000}",
    "/console/%2e%2e/mcp",
    "/console/%2E./mcp",
    "/console/%2f%2fevil.example",
    "/console/tools%2Fx",
    "/console/%5c%5cevil.example",
    "/console/tools?x=%2f%2fevil.example",
    "/console/%252e%252e/mcp",
    "/console/tools%09x",
    "/console/tools%",
]


@pytest.mark.parametrize("to", ELSEWHERE)
async def test_a_login_leads_to_the_console_and_nowhere_else(entrance: Entrance, to: str) -> None:
    async with entrance.visitor() as browser:
        entered = await entrance.log_in(browser, to)

    assert entered.status_code == 200
    assert 'content="0;url=/console/"' in entered.text
    assert "evil" not in entered.text


async def test_a_login_leads_to_the_page_that_was_wanted(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        refused = await browser.get("/console/tools?q=delete&level=write")
        assert refused.status_code == 401
        way = "/console/login/oidc?to=/console/tools%3Fq%3Ddelete%26level%3Dwrite"
        assert f'href="{way}"' in refused.text
        begun = parse_qs(urlsplit(way).query)["to"][0]
        entered = await entrance.log_in(browser, begun)

    assert 'content="0;url=/console/tools?q=delete&amp;level=write"' in entered.text


def kept(browser: httpx2.AsyncClient) -> str:
    """What a browser keeps of a login that it has begun."""
    return next(one.value or "" for one in browser.cookies.jar if one.name == FLOW)


async def test_every_login_has_a_session_of_its_own(entrance: Entrance) -> None:
    async with entrance.visitor() as browser:
        back = await entrance.sent_back(browser)
        entered = await browser.get(
            back, headers={"cookie": f"{SESSION}=chosen; {FLOW}={kept(browser)}"}
        )
        await entrance.log_in(browser)
        first, token = browser.cookies[SESSION], csrf_of(await browser.get("/console/"))
        await entrance.log_in(browser)
        assert browser.cookies[SESSION] != first
        assert csrf_of(await browser.get("/console/")) != token

    assert entered.status_code == 200
    assert "chosen" not in entered.headers["set-cookie"]
    assert await entrance.bench.login.session("chosen") is None


async def test_a_session_ends_by_logging_out_and_after_its_time(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    entrance = make_entrance(bench, issuer, fetcher, seconds=3600.0)
    async with entrance.browser() as browser, entrance.browser() as other:
        kept = browser.cookies[SESSION]
        left = await browser.post(
            "/console/logout", data={"csrf": csrf_of(await browser.get("/console/"))}
        )
        assert left.status_code == 303
        browser.cookies.set(SESSION, kept, path="/console")
        assert not await is_in(browser)
        bench.clock.now += 3599
        assert await is_in(other)
        bench.clock.now += 1
        assert not await is_in(other)


async def test_a_session_is_void_when_who_may_do_what_has_changed(
    bench: Bench, issuer: Issuer, fetcher: Fetcher
) -> None:
    before = make_entrance(bench, issuer, fetcher)
    changed = [
        make_entrance(bench, issuer, fetcher, people=frozenset({"bob"})),
        make_entrance(bench, issuer, fetcher, roles={"viewer": frozenset({"staff"})}),
        make_entrance(bench, issuer, fetcher, claim="groups"),
    ]
    async with before.browser() as browser:
        assert await is_in(browser)
        for entrance in changed:
            async with entrance.visitor() as later:
                later.cookies.set(SESSION, browser.cookies[SESSION], path="/console")
                assert not await is_in(later)
        async with bench.visitor() as without:
            without.cookies.set(SESSION, browser.cookies[SESSION], path="/console")
            assert not await is_in(without)


async def test_a_session_cannot_be_made_to_say_more(entrance: Entrance) -> None:
    async with entrance.browser(roles=["guest"]) as browser:
        name, expires, body, *rest = browser.cookies[SESSION].split(".")
        person, _, *others = json.loads(base64.urlsafe_b64decode(f"{body}=="))
        wider = base64.urlsafe_b64encode(json.dumps([person, "admin", *others]).encode()).decode()
    for told in (body, wider, wider.rstrip("=")):
        async with entrance.visitor() as forger:
            kept = ".".join([name, expires, told, *rest])
            forger.cookies.set(SESSION, kept, path="/console")
            assert await is_in(forger) is (told == body)


async def test_a_person_with_more_roles_than_a_cookie_holds_still_comes_in(
    entrance: Entrance,
) -> None:
    words = ["platform", *(f"group-{number:04}-å" for number in range(500))]
    async with entrance.browser(roles=words, sub="å" * 255) as browser:
        assert await is_in(browser)
        assert len(browser.cookies[SESSION]) < 4000


async def test_no_person_answers_their_own_call_and_who_answers_is_on_record(
    entrance: Entrance,
) -> None:
    await entrance.bench.call(subject="amy")
    async with entrance.browser(sub="amy") as amy, entrance.browser(sub="bob") as bob:
        refused = await answer(amy, "allow")
        assert refused.status_code == 403
        assert "another person must answer" in refused.text
        assert (await entrance.bench.find()).state == "pending"

        assert (await answer(bob, "allow")).status_code == 303

    approval = await entrance.bench.find()
    assert (approval.state, approval.answered_by, approval.channel) == (
        "approved",
        "bob",
        "console",
    )


async def test_a_question_for_a_role_is_answered_by_whoever_has_it_from_the_issuer(
    entrance: Entrance,
) -> None:
    rule = """
[[rules]]
name = "money"
effect = "confirm"
reviewers = { roles = ["finance"] }
"""
    entrance.bench.policy = load_policy(rule)
    await entrance.bench.call()
    async with entrance.browser(roles=["staff"]) as browser:
        assert (await answer(browser, "allow")).status_code == 403
    async with entrance.browser(roles=["finance"]) as browser:
        assert (await answer(browser, "allow")).status_code == 303


async def test_a_viewer_answers_nothing(entrance: Entrance) -> None:
    await entrance.bench.call()
    async with entrance.browser(roles=["guest"]) as browser:
        fields = {"csrf": csrf_of(await browser.get("/console/")), "verdict": "allow"}
        refused = await browser.post("/console/approvals/1/answer", data=fields)

    assert refused.status_code == 403
    assert (await entrance.bench.find()).state == "pending"


async def test_with_an_issuer_no_link_logs_in(entrance: Entrance) -> None:
    link = entrance.bench.login.link()

    async with entrance.visitor() as browser:
        page = await browser.get("/console/login")
        opened = await browser.get(link)
        entered = await browser.post("/console/login", data={"token": token_of(link)})

    assert "Log in with your account" in page.text
    assert "sayso console" not in page.text
    for refused in (opened, entered):
        assert refused.status_code == 410
        assert "Log in with your account" in refused.text
        assert "set-cookie" not in refused.headers


async def test_a_session_from_a_link_ends_where_people_log_in_with_an_issuer(
    entrance: Entrance,
) -> None:
    async with entrance.bench.browser() as before:
        cookies = before.cookies
        assert (await before.get("/console/")).status_code == 200
    async with entrance.visitor() as browser:
        browser.cookies = cookies
        assert (await browser.get("/console/")).status_code == 401


async def test_nothing_of_a_login_is_in_the_log(
    entrance: Entrance, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with entrance.visitor() as browser:
        back = await entrance.sent_back(browser)
        await browser.get(back)
        kept = browser.cookies[SESSION]
        entrance.issuer.codes.clear()
        await browser.get(await entrance.sent_back(browser))
    code = parse_qs(urlsplit(back).query)["code"][0]

    ours = "\n".join(one.getMessage() for one in caplog.records if one.name.startswith("sayso"))
    for secret in (SECRET, code, kept, kept.split(".")[-1]):
        assert secret not in ours


def test_a_session_lasts_twelve_hours_at_most() -> None:
    assert SESSION_SECONDS == 12 * 3600
