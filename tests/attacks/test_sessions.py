"""Session tokens of the handshake eras: forged, stolen, old, of others, and after their end."""

from base64 import b32decode, b32encode
from collections.abc import Callable

import httpx2
import pytest
from tests.access.authority import Authority
from tests.attacks.serving import Place, behind_access, request, send_raw
from tests.connect.servers.web import OLD

from sayso.keys import Keyring

pytestmark = pytest.mark.anyio

PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


async def ping(
    place: Place, session: str, token: str, *, path: str = "/mcp", verb: str = "POST"
) -> httpx2.Response:
    headers = {
        "authorization": f"Bearer {token}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-session-id": session,
    }
    async with httpx2.AsyncClient(timeout=60, trust_env=False) as http:
        body = PING if verb == "POST" else b""
        url = f"{place.base}{path}"
        return await http.request(verb, url, content=body, headers=headers)


async def begun(place: Place, token: str, path: str = "/mcp") -> str:
    """The token of a new session."""
    async with place.client(OLD, token, path) as client:
        return client.session["mcp-session-id"]


def changed(session: str, old: bytes, new: bytes) -> str:
    """The same with other words in it, and the old signature."""
    body, _, signature = session.partition(".")
    said = b32decode(body.upper() + "=" * (-len(body) % 8))
    assert old in said
    text = b32encode(said.replace(old, new)).rstrip(b"=").lower().decode()
    return f"{text}.{signature}"


async def test_a_session_answers_its_own_caller(place: Place) -> None:
    session = await begun(place, place.token())
    assert (await ping(place, session, place.token())).json()["result"] == {}


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
async def test_a_session_is_of_no_use_to_anybody_else(place: Place, verb: str) -> None:
    amy, eve = place.token("amy"), place.token("eve")
    session = await begun(place, amy)
    body, _, signature = session.partition(".")
    name, _, mac = signature.partition(":")
    mine = await begun(place, eve)
    tries = {
        "stolen": session,
        "with another name": changed(session, b'"amy"', b'"eve"'),
        "with another's signature": f"{body}.{mine.partition('.')[2]}",
        "unsigned": body,
        "with an empty signature": f"{body}.",
        "with a signature of nothing": f"{body}.{name}:",
        "with a key that is not there": f"{body}.{'0' * 16}:{mac}",
        "cut": session[:-1],
        "in capitals": session.upper(),
        "nothing": ".",
        "a path": "../../etc/passwd",
        "too long": "a" * 4_000,
    }
    for what, one in tries.items():
        found = await ping(place, one, eve, verb=verb)
        assert found.status_code == 404, what
        assert "Session not found" in found.json()["error"]["message"], what
    assert (await ping(place, session, amy)).status_code == 200
    assert (await ping(place, mine, eve)).status_code == 200


async def test_a_session_of_another_gateway_is_none(
    place: Place, authority: Authority, new_store: Callable[[], str]
) -> None:
    other = Keyring.of([b"o" * 32])
    async with behind_access(authority, store=new_store(), keys=other) as elsewhere:
        session = await begun(elsewhere, elsewhere.token())
    assert (await ping(place, session, place.token())).status_code == 404


async def test_a_session_that_was_ended_is_over_at_every_door(place: Place) -> None:
    token = place.token(aud=[place.url, f"{place.base}/servers/web/mcp"])
    session = await begun(place, token)
    assert (await ping(place, session, token, verb="DELETE")).status_code == 200
    for path in ("/mcp", "/servers/web/mcp"):
        for verb in ("POST", "GET", "DELETE"):
            found = await ping(place, session, token, path=path, verb=verb)
            assert found.status_code == 404, (path, verb)


async def test_a_session_belongs_to_the_address_where_it_began(place: Place) -> None:
    token = place.token(aud=[place.url, f"{place.base}/servers/web/mcp"])
    session = await begun(place, token, "/servers/web/mcp")
    assert (await ping(place, session, token, path="/servers/web/mcp")).status_code == 200
    assert (await ping(place, session, token, path="/mcp")).status_code == 404


async def test_two_sessions_in_one_request_are_refused(place: Place) -> None:
    token = place.token()
    one, other = await begun(place, token), await begun(place, token)
    fields = [("authorization", f"Bearer {token}"), ("mcp-session-id", one)]
    for name in ("mcp-session-id", "MCP-SESSION-ID"):
        for second in (one, other):
            said = request(place.port, PING, [*fields, (name, second)])
            (answer,) = await send_raw(place.port, said)
            assert answer.status == 400
            assert "repeated" in answer.message["error"]["message"]
    (answer,) = await send_raw(
        place.port, request(place.port, PING, [fields[0], ("mcp-session-id", f"{one}, {other}")])
    )
    assert answer.status == 404
