"""Every route of the console, against everybody: who may what, and from where.

The routes are read from the application, so that one which nobody has thought of here fails.
"""

import re
from typing import Final

import pytest
from starlette.applications import Starlette
from tests.console.conftest import Bench
from tests.console.entering import make_entrance
from tests.console.issuer import Issuer
from tests.console.surface import Address, Told, Visitor, addresses, ask, visitor_of

from sayso.connect.fetch import Fetcher
from sayso.console import make_routes
from sayso.console.entry.roles import Role
from sayso.console.gate import HEADERS

pytestmark = pytest.mark.anyio

ANYBODY: Final = None
VIEWER, APPROVER, ADMIN = Role.VIEWER, Role.APPROVER, Role.ADMIN

WHO: Final[dict[str, Role | None]] = {
    "GET /": ANYBODY,
    "GET /console": ANYBODY,
    "GET /console/static/{name:path}": ANYBODY,
    # Logging in: what each of them lets in is shown in test_login and test_oidc.
    "GET /console/login": ANYBODY,
    "POST /console/login": ANYBODY,
    "GET /console/login/oidc": ANYBODY,
    "GET /console/login/oidc/callback": ANYBODY,
    "POST /console/logout": VIEWER,
    # Whoever holds a link, and for its one question: test_approvals shows it.
    "GET /console/link": ANYBODY,
    "POST /console/link": ANYBODY,
    "GET /console/": VIEWER,
    "GET /console/events": VIEWER,
    "GET /console/approvals/live": VIEWER,
    "GET /console/approvals/waiting": VIEWER,
    "GET /console/approvals/{number}": VIEWER,
    "GET /console/approvals/{number}/dialog": VIEWER,
    "GET /console/approvals/{number}/end": VIEWER,
    "GET /console/approvals/{number}/run": VIEWER,
    "POST /console/approvals/{number}/answer": APPROVER,
    "POST /console/approvals/{number}/stop": APPROVER,
    "GET /console/tools": VIEWER,
    "GET /console/tools/{key}": VIEWER,
    "POST /console/tools/{key}/try": APPROVER,
    "POST /console/tools/{key}/run": APPROVER,
    "GET /console/tries/{id}": APPROVER,
    "GET /console/tries/{id}/live": APPROVER,
    "POST /console/tries/{id}/cancel": APPROVER,
    "GET /console/changes": VIEWER,
    # What loosens a tool for everybody.
    "POST /console/changes/accept": ADMIN,
    "POST /console/changes/lift": ADMIN,
    "GET /console/servers": VIEWER,
    "POST /console/servers/retry": APPROVER,
    "GET /console/prompt": VIEWER,
    "GET /console/audit": VIEWER,
    # The whole log at once leaves the house.
    "GET /console/audit/export": ADMIN,
    "GET /console/audit/chain": VIEWER,
    "POST /console/audit/chain/check": APPROVER,
    "GET /console/audit/{call}": VIEWER,
    "GET /console/audit/{call}/conversation": VIEWER,
    "GET /console/audit/{call}/rule": VIEWER,
    "GET /console/audit/{call}/test": VIEWER,
    # Where pages were; they say nothing but where they are now.
    "GET /console/grants": VIEWER,
    "POST /console/grants/{number}/revoke": APPROVER,
    "GET /console/policy": VIEWER,
    # The API for screens, as a session sees it; test_api_surface has what is for tokens.
    "GET /console/api/v1/tools": VIEWER,
    "GET /console/api/v1/tools/{name}": VIEWER,
    "GET /console/api/v1/approvals": VIEWER,
    "GET /console/api/v1/approvals/{number}": VIEWER,
    "POST /console/api/v1/approvals/{number}/answer": APPROVER,
    "GET /console/api/v1/events": VIEWER,
    "GET /console/api/v1/me": VIEWER,
    "GET /console/api/v1/openapi.json": ANYBODY,
    "GET /console/api/v1/sayso-confirm.js": ANYBODY,
    # A question about the policy, which changes nothing.
    "POST /console/policy/what-if": VIEWER,
}
"""Who may ask for what: the least role that it takes."""

EVERYBODY: Final = (None, *Role)


@pytest.fixture
def app(bench: Bench) -> Starlette:
    """The console with all that it can have, an issuer too."""
    provider = make_entrance(bench, Issuer("http://127.0.0.1:9"), Fetcher()).provider
    routes = make_routes(
        bench.gateway, bench.login, base_url="http://127.0.0.1:8321", provider=provider
    )
    return Starlette(routes=routes)


@pytest.fixture
async def values(bench: Bench) -> dict[str, str]:
    """What there is to be asked for: a question, a call, a tool, a file."""
    await bench.call()
    (row, *_) = await bench.gateway.guard.audit.newest()
    return {
        "number": "1",
        "call": row.call,
        "key": "studio__customer_delete",
        "name": "console.css",
    }


async def test_every_route_stands_in_the_table(app: Starlette) -> None:
    unknown = [str(one) for one in addresses(app.routes) if str(one) not in WHO]
    assert unknown == [], "say in WHO who may ask for these"


async def asked(
    app: Starlette, address: Address, values: dict[str, str], visitor: Visitor, **headers: str
) -> Told:
    """One request of a visitor, with the token of its own session where it is a form."""
    form = {"csrf": visitor.csrf}
    path = address.filled(values)
    sent = {"x_csrf_token": visitor.csrf, **headers}
    return await ask(app, address.verb, path, session=visitor.session, form=form, **sent)


async def test_everybody_gets_what_their_role_may_and_nothing_else(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    for address in addresses(app.routes):
        needed = WHO[str(address)]
        for role in EVERYBODY:
            told = await asked(app, address, values, await visitor_of(bench, role))
            where = f"{address} as {role}"
            if needed is not None and role is None:
                assert told.status == 401, where
                assert "Delete customer" not in told.text, where
            else:
                is_enough = needed is None or (role is not None and role.covers(needed))
                assert told.is_barred is not is_enough, where


async def test_a_form_without_its_sessions_token_does_nothing(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    visitor, other = await visitor_of(bench, ADMIN), await visitor_of(bench, ADMIN)
    before = await bench.store.dump()
    forms = [one for one in addresses(app.routes) if one.verb != "GET"]
    assert forms
    for address in forms:
        if WHO[str(address)] is ANYBODY:
            continue
        for token in ("", "x", "å", other.csrf, visitor.csrf.upper()):
            forged = Visitor(visitor.session, token)
            told = await asked(app, address, values, forged)
            assert told.status == 403, address
            assert any(
                reason in told.text
                for reason in ("belongs to another session", "not this session's token")
            ), address
    assert await bench.store.dump() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:8322"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
    ids=str,
)
async def test_a_form_from_another_page_does_nothing(
    bench: Bench, app: Starlette, values: dict[str, str], headers: dict[str, str]
) -> None:
    visitor = await visitor_of(bench, ADMIN)
    before = await bench.store.dump()
    for address in addresses(app.routes):
        if address.verb == "GET":
            continue
        told = await asked(app, address, values, visitor, **headers)
        assert told.status == 403, address
        assert "was not sent by the console" in told.text, address
    assert await bench.store.dump() == before


async def test_looking_changes_nothing(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    visitor = await visitor_of(bench, ADMIN)
    before = await bench.store.dump()
    for address in addresses(app.routes):
        if address.verb == "GET":
            await asked(app, address, values, visitor)
            assert await bench.store.dump() == before, address


async def test_no_page_can_be_put_into_a_frame_run_a_script_of_others_or_be_kept(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy
    for address in addresses(app.routes):
        for role in (None, ADMIN):
            told = await asked(app, address, values, await visitor_of(bench, role))
            own = {name: told.headers.get(name.lower()) for name in HEADERS}
            assert own == HEADERS, address


async def test_every_method_but_its_own_is_refused(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    visitor, known = await visitor_of(bench, ADMIN), addresses(app.routes)
    before = await bench.store.dump()
    for path in {one.path for one in known} - {"/", "/console"}:
        for verb in ("POST", "PUT", "PATCH", "DELETE"):
            if Address(verb, path) not in known:
                told = await asked(app, Address(verb, path), values, visitor)
                assert told.status == 405, (verb, path)
    assert await bench.store.dump() == before


async def test_every_form_on_a_page_is_one_that_its_reader_may_send(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    for role in Role:
        visitor = await visitor_of(bench, role)
        for address in addresses(app.routes):
            if address.verb != "GET" or WHO[str(address)] is ANYBODY:
                continue
            told = await asked(app, address, values, visitor)
            for action in forms_in(told.text):
                needed = needed_for(app, action)
                assert needed is None or role.covers(needed), (address, action, role)


async def test_every_form_on_a_page_carries_its_sessions_token(
    bench: Bench, app: Starlette, values: dict[str, str]
) -> None:
    visitor = await visitor_of(bench, ADMIN)
    for address in addresses(app.routes):
        if address.verb == "GET" and WHO[str(address)] is not ANYBODY:
            told = await asked(app, address, values, visitor)
            tokens = told.text.count(f'name="csrf" value="{visitor.csrf}"')
            assert tokens == len(forms_in(told.text)), address


async def test_no_secret_stands_in_an_address_of_the_console(app: Starlette) -> None:
    for address in addresses(app.routes):
        assert not {"token", "session", "csrf"} & set(address.path.strip("/").split("/")), address


def forms_in(text: str) -> list[str]:
    """Where the forms of a page that change something are sent to."""
    found: list[str] = []
    for tag in re.findall(r"<(?:form|button)\b[^>]*>", text):
        if 'method="post"' in tag or "formaction" in tag:
            found += re.findall(r'(?:form)?action="([^"]*)"', tag)
    return found


def needed_for(app: Starlette, action: str) -> Role | None:
    """The role that it takes to send a form there."""
    for address in addresses(app.routes):
        pattern = re.sub(r"\{\w+(?::\w+)?\}", "[^/]+", address.path)
        if address.verb == "POST" and re.fullmatch(pattern, re.split("[?#]", action)[0]):
            return WHO[str(address)]
    raise LookupError(action)
