"""The envelope of a request in each era."""

from typing import Any

import pytest
from tests.connect.servers.web import OLD, serve_web

from sayso.connect import UrlTarget
from sayso.connect.envelope import HANDSHAKE_VERSIONS, MODERN, Envelope
from sayso.connect.link import open_link
from sayso.connect.listing import list_all

CLIENT = {"name": "amy", "version": "1"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "secret": {"type": "string"},
    },
}


def test_since_2026_07_28_each_request_says_who_asks_and_in_which_version() -> None:
    envelope = Envelope(MODERN, CLIENT, {})
    params = {"name": "x", "_meta": {"progressToken": 7}}

    dressed = envelope.params(params)

    assert dressed["_meta"] == {
        "progressToken": 7,
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    assert params == {"name": "x", "_meta": {"progressToken": 7}}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_before_that_only_the_version_goes_along_as_a_header(version: str) -> None:
    envelope = Envelope(version, CLIENT, {})

    assert envelope.params({"name": "x"}) == {"name": "x"}
    assert envelope.headers("tools/call", {"name": "x"}, SCHEMA) == {
        "mcp-protocol-version": version
    }


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "get_echo"}, "get_echo"),
        ("prompts/get", {"name": "greet"}, "greet"),
        ("resources/read", {"uri": "demo://about"}, "demo://about"),
        ("tools/list", {}, None),
        ("tools/call", {"name": 7}, None),
    ],
)
def test_the_headers_name_what_the_body_says(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    headers = Envelope(MODERN, CLIENT, {}).headers(method, params)

    assert headers["mcp-method"] == method
    assert headers.get("mcp-name") == name


def test_a_name_that_no_header_can_hold_is_encoded() -> None:
    headers = Envelope(MODERN, CLIENT, {}).headers("tools/call", {"name": "größe\r\nX: y"})

    assert headers["mcp-name"].startswith("=?base64?")
    assert headers["mcp-name"].isascii()


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            {"region": "eu-west", "count": 3, "secret": "s"},
            {"Mcp-Param-Region": "eu-west", "Mcp-Param-Count": "3"},
        ),
        ({"secret": "s"}, {}),
        (None, {}),
    ],
)
def test_only_arguments_that_the_schema_marks_travel_as_headers(
    arguments: dict[str, Any] | None, found: dict[str, str]
) -> None:
    params = {"name": "x", "arguments": arguments}

    headers = Envelope(MODERN, CLIENT, {}).headers("tools/call", params, SCHEMA)

    assert {name: text for name, text in headers.items() if name.startswith("Mcp-Param")} == found
    assert "s" not in headers.values()


@pytest.mark.anyio
@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_marked_arguments_arrive_as_headers_in_the_new_era_alone(era: str) -> None:
    with serve_web(era) as site:
        async with open_link(UrlTarget("web", site.url), timeout=60) as link:
            (echo, _) = await list_all(link, "tools/list", timeout=60)
            params = {"name": "get_echo", "arguments": {"region": "eu-west"}}
            schema = echo["inputSchema"]
            await link.request("tools/call", params, timeout=60, input_schema=schema)
        (call,) = site.asked("tools/call")
        assert call.headers.get("mcp-param-region") == ("eu-west" if era == MODERN else None)
        assert call.headers.get("mcp-name") == ("get_echo" if era == MODERN else None)
        assert call.headers["mcp-protocol-version"] == era
