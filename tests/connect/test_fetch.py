"""Requests to authorization servers: bounded, private, and without secrets in errors."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from starlette.responses import Response
from tests.access.authority import CLIENT, REDIRECT, SECRET, Authority, serve_authority

from sayso.connect.address import is_loopback, is_private
from sayso.connect.fetch import LARGEST, ClientAuth, Fetcher, Reply, open_fetcher
from sayso.errors import KeysError, TimedOutError, UnreachableError
from sayso.keys import Reference

pytestmark = pytest.mark.anyio

AUTH = ClientAuth(CLIENT, Reference("env", "SAYSO_TEST_SECRET"))


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_TEST_SECRET", SECRET)


@pytest.fixture
async def authority() -> AsyncGenerator[Authority]:
    async with serve_authority() as running:
        yield running


@pytest.fixture
async def fetcher() -> AsyncGenerator[Fetcher]:
    async with open_fetcher(2.0) as opened:
        yield opened


async def test_a_document_is_read_over_one_connection(
    authority: Authority, fetcher: Fetcher
) -> None:
    for _ in range(2):
        reply = await fetcher.get(f"{authority.base}/jwks")
        assert reply.is_ok
        assert len(reply.body["keys"]) == 5
        assert "keys" not in repr(reply)


@pytest.mark.parametrize("is_in_body", [False, True])
async def test_a_form_carries_the_proof_of_who_sends_it(
    authority: Authority, fetcher: Fetcher, *, is_in_body: bool
) -> None:
    auth = ClientAuth(CLIENT, Reference("env", "SAYSO_TEST_SECRET"), is_in_body=is_in_body)
    reply = await fetcher.post(f"{authority.base}/token", {"scope": "a & b"}, auth)
    assert reply.is_ok
    assert authority.issued == [{"scope": "a & b"}]


async def test_without_the_secret_nothing_is_sent(
    authority: Authority, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SAYSO_TEST_SECRET")
    with pytest.raises(KeysError):
        await fetcher.post(f"{authority.base}/token", {}, AUTH)
    assert authority.hits == {}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Response("<html>"), "not a JSON object"),
        (Response("[]"), "not a JSON object"),
        (Response('{"a": 1, "a": 2}'), "not a JSON object"),
        (Response("\xff".encode("latin-1")), "not a JSON object"),
        (Response("{}" + " " * LARGEST), "too large"),
    ],
)
async def test_what_is_no_document_is_told(
    authority: Authority, fetcher: Fetcher, answer: Response, told: str
) -> None:
    authority.failing["/jwks"] = answer
    with pytest.raises(UnreachableError, match=told):
        await fetcher.get(f"{authority.base}/jwks?key=hunter2")


async def test_a_redirect_is_not_followed(authority: Authority, fetcher: Fetcher) -> None:
    authority.failing["/jwks"] = REDIRECT
    reply = await fetcher.get(f"{authority.base}/jwks")
    assert (reply.status, reply.is_ok, reply.body) == (302, False, {})


async def test_a_server_that_hangs_is_not_waited_for(authority: Authority) -> None:
    authority.is_hanging = True
    async with open_fetcher(0.2) as fetcher:
        with pytest.raises(TimedOutError, match=r"no answer within 0\.2 s"):
            await fetcher.get(f"{authority.base}/jwks")


async def test_an_error_shows_nothing_of_what_was_sent(fetcher: Fetcher) -> None:
    with pytest.raises(UnreachableError) as caught:
        await fetcher.post("http://127.0.0.1:1/token?key=hunter2", {"token": "hunter2"}, AUTH)
    assert "the connection could not be opened" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert SECRET not in repr(AUTH)


async def test_a_connection_that_breaks_is_said_to(fetcher: Fetcher) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(UnreachableError, match="the connection broke"):
            await fetcher.post(f"http://127.0.0.1:{port}/token", {"token": "hunter2"}, AUTH)


async def test_nothing_goes_over_the_network_in_the_clear(fetcher: Fetcher) -> None:
    with pytest.raises(UnreachableError, match="unencrypted"):
        await fetcher.get("http://login.example.com/jwks")


def test_only_tls_and_this_machine_are_private() -> None:
    here = ["localhost", "127.0.0.9", "::1", "::ffff:127.0.0.1"]
    assert [one for one in (*here, "192.0.2.1", "::", "") if is_loopback(one)] == here
    assert not is_loopback("localhost.evil.example")
    assert is_private("http://[::1]:8080/x")
    assert not is_private("http://10.0.0.1/x")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": "invalid_client"}, "invalid_client"),
        ({"error": "a sentence with a token"}, "HTTP 400"),
        ({"error": "x" * 99}, "x" * 40),
        ({"error": 7}, "HTTP 400"),
        ({}, "HTTP 400"),
    ],
)
def test_only_a_code_is_taken_for_an_error(body: dict[str, object], told: str) -> None:
    assert Reply(400, body).error == told
