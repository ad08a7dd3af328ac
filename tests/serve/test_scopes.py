"""Access by verified tokens over HTTP, and by an explicit principal elsewhere."""

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.server.auth import AccessToken as FastToken
from fastmcp.server.auth import TokenVerifier as FastVerifier
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.middleware.authentication import AuthenticationMiddleware
from tests.connect.serving import RawClient, raw_client, serve_app
from tests.serve.serving import KINDS, YES, Offered, Studio, app_of, lines, make, offer, text

import sayso
from sayso.serve import Tools

pytestmark = pytest.mark.anyio

VERSIONS = ["2025-11-25", "2026-07-28"]
ISSUER = "https://auth.example.com"
TOKENS: dict[str, dict[str, Any]] = {
    "reads": {"scopes": ["customers.read"], "subject": "amy"},
    "writes": {"scopes": ["customers.read", "customers.write"], "subject": "bea"},
    "nothing": {"scopes": [], "subject": "cat"},
    "admin": {"scopes": [], "subject": "dan", "claims": {"roles": ["admin"]}},
    "admin_text": {"scopes": [], "subject": "eve", "claims": {"roles": "admin"}},
    "odd_roles": {"scopes": [], "subject": "fay", "claims": {"roles": {"admin": 1, "x": [7]}}},
    "old": {"scopes": ["customers.read"], "subject": "amy", "expires_at": 1},
}


def read(text: str, made: Any) -> Any:
    """Return the verifier's token, `None` for an unknown one."""
    said = TOKENS.get(text)
    if said is None:
        return None
    expires = int(time.time()) + 600
    return made(**{"token": text, "client_id": "agent", "expires_at": expires, **said})


class Verifier:
    """The SDK's kind."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return read(token, AccessToken)


class Verifying(FastVerifier):
    """FastMCP's kind."""

    async def verify_token(self, token: str) -> FastToken | None:
        return read(token, FastToken)


def with_tokens(kind: str) -> Any:
    """An empty server that wants a token over HTTP."""
    if kind == "FastMCP":
        return FastMCP("studio", auth=Verifying())
    url = AnyHttpUrl(ISSUER)
    settings = AuthSettings(
        issuer_url=url,
        resource_server_url=url,
        required_scopes=[],
        validate_token_resource=False,
    )
    if kind == "MCPServer":
        return MCPServer("studio", auth=settings, token_verifier=Verifier())
    return make(kind)


def app_with_tokens(server: Any, kind: str) -> Any:
    """Serve over HTTP; a low-level server gets the SDK's middleware from its author."""
    if kind != "Server":
        return app_of(server)
    app = app_of(server)
    guarded = RequireAuthMiddleware(app.router, [])

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await (app.router if scope["type"] == "lifespan" else guarded)(scope, receive, send)

    return AuthenticationMiddleware(AuthContextMiddleware(serve), BearerAuthBackend(Verifier()))


def declare(tools: Tools, studio: Studio) -> None:
    from tests.serve.serving import declare_studio

    declare_studio(tools, studio)

    @tools.tool(sayso.READ_ONLY, roles={"admin", "auditor"})
    def audit_read() -> str:
        return "all"

    @tools.tool(sayso.READ_ONLY)
    def whoami() -> str:
        caller = sayso.context().principal
        return f"{caller.subject} through {caller.client}"


@dataclass
class Http:
    """A server with tokens on HTTP."""

    offered: Offered
    base: str

    @asynccontextmanager
    async def by(self, bearer: str, era: str) -> AsyncGenerator[RawClient]:
        headers = {"authorization": f"Bearer {bearer}"}
        async with raw_client(f"{self.base}/mcp", era, **headers) as raw:
            yield raw


@asynccontextmanager
async def http(kind: str, **more: Any) -> AsyncGenerator[Http]:
    offered = offer(kind, server=with_tokens(kind), declare=declare, **more)
    async with serve_app(app_with_tokens(offered.server, kind)) as base:
        yield Http(offered, base)


async def names(raw: RawClient) -> list[str]:
    return sorted(one["name"] for one in (await raw.result("tools/list"))["tools"])


SEEN = {
    "reads": ["customer_get", "customer_list", "whoami"],
    "writes": ["customer_delete", "customer_get", "customer_list", "customer_write", "whoami"],
    "nothing": ["whoami"],
    "admin": ["audit_read", "whoami"],
    "admin_text": ["audit_read", "whoami"],
    "odd_roles": ["whoami"],
}


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_token_sees_and_calls_what_its_scopes_and_roles_allow(
    kind: str, era: str
) -> None:
    async with http(kind) as server:
        for bearer, seen in SEEN.items():
            async with server.by(bearer, era) as raw:
                assert await names(raw) == seen, bearer
                for name in set().union(*SEEN.values()) - set(seen):
                    message = await raw.ask("tools/call", {"name": name, "arguments": {}})
                    assert message["error"]["message"] == f"Unknown tool: {name}"
                who = await raw.call("whoami")
                assert who["content"][0]["text"] == f"{TOKENS[bearer]['subject']} through agent"
    assert server.offered.studio.done == []


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bearer", ["old", "forged", ""])
async def test_a_token_that_is_none_is_refused_before_anything_is_looked_at(
    kind: str, era: str, bearer: str
) -> None:
    async with http(kind) as server:
        headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
        async with raw_client(f"{server.base}/mcp", "2026-07-28", **headers) as raw:
            response = await raw.post("{}", **{"mcp-protocol-version": era})
    assert response.status_code == 401


async def test_a_session_is_not_another_tokens(caplog: pytest.LogCaptureFixture) -> None:
    async with http("MCPServer") as server, server.by("writes", "2025-11-25") as raw:
        assert "customer_write" in await names(raw)
        raw.http.headers["authorization"] = "Bearer reads"
        request = '{"jsonrpc": "2.0", "id": 9, "method": "tools/list"}'
        response = await raw.post(request, **raw.session)
    assert "customer_write" not in response.text
    assert caplog.records is not None


@pytest.mark.parametrize("era", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
async def test_with_a_token_nobody_approves_through_the_client_that_calls(
    kind: str, era: str
) -> None:
    async with http(kind, principal=None) as server, server.by("writes", era) as raw:
        answer = await raw.call("customer_delete", {"customer_id": 2})
        listed = (await raw.result("tools/list")).get("cacheScope", "private")
    assert answer["isError"] is True
    assert "no person can be asked" in answer["content"][0]["text"]
    assert server.offered.studio.done == []
    assert listed == "private"
    last = (await lines(server.offered.url))[-1]
    assert (last["subject"], last["client"]) == ("bea", "agent")


@pytest.mark.parametrize("kind", KINDS)
async def test_without_a_principal_scoped_tools_are_hidden_and_the_author_is_told_at_start(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    offered = offer(kind, principal=None, declare=declare)
    with caplog.at_level(logging.WARNING, "sayso"):
        async with offered.client() as caller:
            told = caplog.text
            assert await caller.names() == ["whoami"]
    assert "customers.read, customers.write" in told
    assert "principal=sayso.Principal('local', scopes=frozenset([" in told


@pytest.mark.parametrize("kind", KINDS)
async def test_with_a_principal_or_with_tokens_there_is_nothing_to_tell(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "sayso"):
        async with offer(kind, declare=declare).client():
            pass
        if kind != "Server":
            async with http(kind, principal=None):
                pass
    assert "scopes" not in caplog.text


@pytest.mark.parametrize("kind", KINDS)
async def test_roles_are_the_principals(kind: str) -> None:
    auditor = sayso.Principal("amy", scopes=frozenset(), roles=frozenset({"auditor"}))
    async with offer(kind, declare=declare, principal=auditor).client() as caller:
        assert await caller.names() == ["audit_read", "whoami"]
        assert text(await caller.call("audit_read")) == "all"


@pytest.mark.parametrize("kind", KINDS)
async def test_when_says_whether_a_call_may_be_made(kind: str) -> None:
    ran: list[int] = []

    def declare_when(tools: Tools, _: Studio) -> None:
        async def is_small(amount: int) -> bool:
            return amount < 100

        @tools.tool(sayso.WRITE, when=is_small, otherwise="Only small amounts today.")
        def invoice_create(amount: int, text: str = "") -> None:
            del text
            ran.append(amount)

        @tools.tool(sayso.WRITE, when=lambda: 1)
        def truthy() -> None:
            ran.append(0)

    async with offer(kind, declare=declare_when).client(answer=YES) as caller:
        assert not (await caller.call("invoice_create", {"amount": 7})).is_error
        refused = await caller.call("invoice_create", {"amount": 700})
        assert text(refused) == "Only small amounts today. Nothing was run."
        assert (await caller.call("truthy")).is_error
    assert ran == [7]
