"""Tokens that are none of this gateway's, at its HTTP door in both eras."""

import time
from collections.abc import Callable

import httpx2
import pytest
from tests.access.authority import STRANGER, confused, signed, unsigned
from tests.attacks.serving import ERAS, Place, call_of
from tests.connect.servers.web import Site

pytestmark = pytest.mark.anyio

Make = Callable[[Place], str]
PATHS = ("/mcp", "/servers/web/mcp")


def claims(place: Place) -> dict[str, object]:
    return place.authority.claims(aud=place.url)


FALSE: dict[str, Make] = {
    "of another audience": lambda place: place.token(aud="https://elsewhere.example/mcp"),
    "of another server's audience": lambda place: place.token(aud=f"{place.base}/servers/x/mcp"),
    "for anybody": lambda place: place.token(aud=None),
    "expired": lambda place: place.token(exp=int(time.time()) - 3600),
    "without an end": lambda place: place.token(exp=None),
    "not valid yet": lambda place: place.token(nbf=int(time.time()) + 3600),
    "of another issuer": lambda place: place.token(iss="https://evil.example"),
    "unsigned": lambda place: unsigned(claims(place), alg="none", typ="at+jwt"),
    "unsigned in capitals": lambda place: unsigned(claims(place), alg="NONE", kid="rsa-1"),
    "with the public key as a secret": lambda place: confused(claims(place)),
    "signed by a stranger of that name": lambda place: place.authority.sign(
        STRANGER, aud=place.url
    ),
    "with a key of its own": lambda place: place.authority.sign(
        STRANGER, aud=place.url, header={"kid": None, "jwk": STRANGER.as_dict(private=False)}
    ),
    "with a key from elsewhere": lambda place: signed(
        claims(place), alg="RS256", kid="none", jku="http://127.0.0.1:1/jwks"
    ),
    "with something to be understood": lambda place: signed(
        claims(place), alg="RS256", kid="rsa-1", crit=["b64"], b64=False
    ),
    "an ID token": lambda place: place.authority.sign(aud=place.url, header={"typ": "JWT+id"}),
    "no token": lambda _: "x",
}


async def post(place: Place, path: str, era: str, token: str) -> httpx2.Response:
    """A call in this era, or the handshake before it."""
    body, headers = call_of("web__add_note" if path == "/mcp" else "add_note")
    if era != "2026-07-28":
        body, headers = HELLO, {}
    ordinary = {"content-type": "application/json", "authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(timeout=30, trust_env=False) as http:
        return await http.post(f"{place.base}{path}", content=body, headers=ordinary | headers)


HELLO = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": '
    b'{"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}}'
)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("era", ERAS)
async def test_a_false_token_opens_no_door_and_reaches_no_server(
    place: Place, site: Site, era: str, path: str
) -> None:
    for name, make in FALSE.items():
        token = make(place)
        found = await post(place, path, era, token)
        assert found.status_code == 401, name
        assert found.headers["www-authenticate"].startswith("Bearer "), name
        assert "mcp-session-id" not in found.headers, name
        assert token not in found.text, name
    assert not site.requests


@pytest.mark.parametrize("era", ERAS)
async def test_a_sound_token_opens_the_door_that_the_false_ones_do_not(
    place: Place, site: Site, era: str
) -> None:
    async with place.client(era, place.token()) as client:
        assert "isError" not in await client.call("web__add_note")
    assert len(site.asked("tools/call")) == 1
    sent = [one.headers for one in site.requests if "authorization" in one.headers]
    assert not sent


async def test_a_token_for_one_server_alone_opens_no_other_door(place: Place, site: Site) -> None:
    token = place.token(aud=f"{place.base}/servers/web/mcp")
    assert (await post(place, "/servers/web/mcp", "2026-07-28", token)).status_code == 200
    before = len(site.requests)
    assert (await post(place, "/mcp", "2026-07-28", token)).status_code == 401
    assert len(site.requests) == before
