"""A key given twice: refused at every door, and in what servers answer."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.connect.servers.web import MODERN, OLD, serve_web
from tests.connect.serving import raw_client
from tests.gateway.serving import serve

from sayso.connect import UrlTarget
from sayso.gateway import make_dispatcher
from sayso.gateway.frontends.stdio import StdioFrontend
from sayso.policy import LOCAL, Principal

pytestmark = pytest.mark.anyio

CALL = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %s}'
TWICE = [
    CALL % '{"name": "web__add_note", "arguments": {"path": "/tmp/a", "path": "/etc/b"}}',
    CALL % '{"name": "web__add_note", "arguments": {"a": [{"b": 1, "\\u0062": 2}]}}',
    CALL % '{"name": "web__get_echo", "arguments": {}, "name": "web__add_note"}',
    CALL % '{"name": "web__add_note", "arguments": {}, "arguments": {"x": 1}}',
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "method": "tools/call", "params": {}}',
    CALL % ('{"name": "web__add_note", "arguments": {"x": "%s", "x": 1}}' % ("y" * 100_000)),
]
IDS = ["arguments", "escaped", "name", "whole", "envelope", "large"]


@pytest.mark.parametrize("body", TWICE, ids=IDS)
async def test_a_key_given_twice_is_refused_over_http(body: str, tmp_path: Path) -> None:
    with serve_web(MODERN) as site:
        target = UrlTarget("web", site.url)
        async with (
            serve(target, store=tmp_path / "a.db") as served,
            raw_client(served.url, OLD) as client,
        ):
            await client.result("tools/list")
            answer = await client.post(body, **client.session)
            assert answer.status_code == 400
            assert "duplicate key" in answer.text
        assert site.asked("tools/call") == []


@pytest.mark.parametrize("body", TWICE, ids=IDS)
async def test_a_key_given_twice_is_refused_over_stdio(body: str, tmp_path: Path) -> None:
    answers: list[bytes] = []
    done = anyio.Event()

    async def write(line: bytes) -> None:
        answers.append(line)
        done.set()

    async def said() -> AsyncGenerator[bytes]:
        yield body.encode()
        await done.wait()

    with serve_web(MODERN) as site:
        async with serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served:
            with anyio.fail_after(30):
                await StdioFrontend(make_dispatcher(served.gateway), Principal(LOCAL), write).run(
                    said()
                )
        assert site.asked("tools/call") == []
    assert b"duplicate key" in answers[0]


@pytest.mark.parametrize(
    "member",
    [
        '"content": [], "structuredContent": {"a": 1, "a": 2}',
        '"content": [], "structuredContent": {"rows": [{"a": 1, "a": 2}]}',
        '"content": [{"type": "text", "text": "a", "text": "b"}]',
    ],
)
async def test_a_key_given_twice_in_a_result_is_withheld(member: str, tmp_path: Path) -> None:
    def answer(exchange: Any) -> None:
        number = exchange.body["id"]
        exchange.reply(200, f'{{"jsonrpc": "2.0", "id": {number}, "result": {{{member}}}}}')

    with serve_web(OLD, tools_call=answer) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, OLD) as client,
        ):
            result = await client.call("web__get_echo", {})
    assert result["isError"] is True
    assert "withheld" in result["content"][0]["text"]


async def test_a_message_of_too_many_values_is_refused_and_is_not_read(tmp_path: Path) -> None:
    items = "[" + "[]," * 1_200_000 + "[]]"
    with serve_web(MODERN) as site:
        async with (
            serve(UrlTarget("web", site.url), store=tmp_path / "a.db") as served,
            raw_client(served.url, OLD) as client,
        ):
            await client.result("tools/list")
            body = CALL % f'{{"name": "web__get_echo", "arguments": {{"items": {items}}}}}'
            answer = await client.post(body, **client.session)
            assert answer.status_code == 400
            assert "more than 1,000,000 keys and values" in answer.text
        assert site.asked("tools/call") == []
