"""Without authentication: this machine alone; and callers whose name is stated."""

import pytest
from tests.access.conftest import KEYS

from sayso.access import LoopbackOnly, RefusedError, RequestInfo, open_access, stated
from sayso.errors import UsageError
from sayso.policy import LOCAL, Principal
from sayso.store import Database

pytestmark = pytest.mark.anyio

HOST = (b"host", b"127.0.0.1:8321")


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
async def test_this_machine_comes_in(peer: str) -> None:
    found = await LoopbackOnly().identify(RequestInfo([HOST], peer))
    assert found == Principal(LOCAL)
    assert not found.is_known


@pytest.mark.parametrize(
    "peer", ["192.0.2.7", "10.0.0.1", "::", "fe80::1%eth0", "::ffff:10.0.0.1", "", "x", None]
)
async def test_another_machine_does_not(peer: str | None) -> None:
    with pytest.raises(RefusedError) as caught:
        await LoopbackOnly().identify(RequestInfo([HOST], peer))
    assert caught.value.status == 403


FORWARDING = [
    "X-Forwarded-For",
    "x_forwarded_for",
    "X_Real_IP",
    "x-originating-ip",
    "incap-client-ip",
    "ali-cdn-real-ip",
    "wl-proxy-client-ip",
    "x-azure-via",
    "cloudfront-viewer-address",
    "x-remote-user",
    "x-tunnel-id",
    "forwarded",
    "x-real-ip",
    "Via",
    "X-Forwarded-Host",
    "X-Forwarded-Proto",
    "X-Forwarded-Anything",
    "CF-Connecting-IP",
    "CF-Ray",
    "True-Client-IP",
    "X-Client-IP",
    "X-Cluster-Client-IP",
    "Fastly-Client-IP",
    "X-Original-URL",
    "X-Envoy-External-Address",
    "Tailscale-User-Login",
    "CDN-Loop",
]


@pytest.mark.parametrize("name", [one.encode() for one in FORWARDING])
async def test_what_a_proxy_on_this_machine_passes_on_does_not(name: bytes) -> None:
    with pytest.raises(RefusedError, match="through a proxy"):
        await LoopbackOnly().identify(RequestInfo([HOST, (name, b"192.0.2.7")], "127.0.0.1"))


@pytest.mark.parametrize(
    "name", [b"mcp-param-ip", b"Mcp-Param-Remote", b"user-agent", b"x-api-key"]
)
async def test_what_clients_themselves_send_is_no_word_of_a_proxy(name: bytes) -> None:
    found = await LoopbackOnly().identify(RequestInfo([HOST, (name, b"192.0.2.7")], "127.0.0.1"))

    assert found.subject == LOCAL


async def test_without_settings_access_is_local(store: Database) -> None:
    async with open_access(None, store.api_keys, KEYS, url="http://127.0.0.1:8321") as access:
        assert isinstance(access, LoopbackOnly)
        assert access.metadata("/mcp") is None


def test_a_request_is_read_from_what_asgi_has() -> None:
    scope = {"headers": [HOST], "client": ("::1", 9), "path": "/mcp", "query_string": b"a=1"}
    assert RequestInfo.of(scope) == RequestInfo([HOST], "::1", "/mcp", b"a=1")
    assert RequestInfo.of({"headers": [], "client": None, "path": "/"}).peer is None


def test_a_stated_caller_holds_what_is_said_and_counts_as_local() -> None:
    found = stated("amy", ["crm.read"], ["staff"])
    assert found == Principal(
        "amy", scopes=frozenset({"crm.read"}), roles=frozenset({"staff"}), is_local=True
    )
    assert not found.is_known
    assert stated("amy", roles=["staff"]).scopes == frozenset()
    assert stated("amy").scopes is None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", LOCAL, "key:ci"])
def test_a_name_of_somebody_else_cannot_be_stated(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        stated(name)
    assert caught.value.where == "--as"
