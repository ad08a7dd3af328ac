"""Requests that two readers would read differently: by their headers, or by their length."""

from base64 import b64encode

import pytest
from tests.attacks.serving import (
    Fields,
    Place,
    call_of,
    modern,
    request,
    send_raw,
)
from tests.connect.servers.web import OLD, Site

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(shared: tuple[Place, Site]) -> Place:
    return shared[0]


@pytest.fixture
def site(shared: tuple[Place, Site]) -> Site:
    """Its server, of which nothing was asked yet."""
    shared[1].requests.clear()
    return shared[1]


NAME = "web__add_note"


def encoded(text: str) -> str:
    return f"=?base64?{b64encode(text.encode()).decode()}?="


def said(headers: dict[str, str], **changes: str | None) -> list[tuple[str, str]]:
    """The header fields with these changes; `None` leaves one out."""
    new = {name.replace("_", "-"): value for name, value in changes.items()}
    return [(name, value) for name, value in (headers | new).items() if value is not None]


FALSE: dict[str, dict[str, str | None]] = {
    "another tool": {"mcp_name": "web__get_echo"},
    "another tool, encoded": {"mcp_name": encoded("web__get_echo")},
    "another case": {"mcp_name": NAME.upper()},
    "a blank within": {"mcp_name": "web__add _note"},
    "a list": {"mcp_name": f"{NAME}, {NAME}"},
    "quotes": {"mcp_name": f'"{NAME}"'},
    "percent": {"mcp_name": "web__add%5Fnote"},
    "no canonical base64": {"mcp_name": encoded(NAME).replace("=?=", "?=")},
    "base64 of no text": {"mcp_name": "=?base64?/w==?="},
    "no name": {"mcp_name": None},
    "an empty name": {"mcp_name": ""},
    "another method": {"mcp_method": "tools/list"},
    "another method's case": {"mcp_method": "Tools/Call"},
    "an encoded method": {"mcp_method": encoded("tools/call")},
    "no method": {"mcp_method": None},
    "another version": {"mcp_protocol_version": "2027-01-01"},
    "an encoded version": {"mcp_protocol_version": encoded("2026-07-28")},
    "a version before": {"mcp_protocol_version": OLD},
    "no version": {"mcp_protocol_version": None},
}


@pytest.mark.parametrize("what", FALSE)
async def test_a_header_that_says_something_else_than_the_body_is_refused(
    place: Place, site: Site, what: str
) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *said(headers, **FALSE[what])]
    (answer,) = await send_raw(place.port, request(place.port, body, fields))
    assert answer.status == 400
    assert "error" in answer.message
    assert not site.asked("tools/call")


@pytest.mark.parametrize("name", ["mcp-name", "Mcp-Name", "mcp-method", "MCP-PROTOCOL-VERSION"])
async def test_a_header_that_stands_there_twice_is_refused(
    place: Place, site: Site, name: str
) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    for second in (headers[name.lower()], "tools/list"):
        (answer,) = await send_raw(place.port, request(place.port, body, [*fields, (name, second)]))
        assert answer.status == 400
        assert "repeated" in answer.message["error"]["message"]
    assert not site.asked("tools/call")


@pytest.mark.parametrize("name", [f"  {NAME}", encoded(NAME)])
async def test_blanks_around_a_header_and_a_name_that_is_encoded_are_as_good(
    place: Place, name: str
) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *said(headers, mcp_name=name)]
    (answer,) = await send_raw(place.port, request(place.port, body, fields))
    assert answer.status == 200
    assert "isError" not in answer.message["result"]


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp-method": "tools/list"},
        {"mcp-name": "web__get_echo"},
        {"mcp-method": encoded("tools/call"), "mcp-name": NAME},
    ],
)
async def test_an_older_clients_header_must_not_lie_either(
    place: Place, site: Site, headers: dict[str, str]
) -> None:
    async with place.client(OLD, place.token()) as client:
        client.session |= headers
        found = await client.ask("tools/call", {"name": NAME, "arguments": {}})
        assert found["error"]["code"] == -32020
        client.session |= {"mcp-method": "tools/call", "mcp-name": NAME}
        assert "result" in await client.ask("tools/call", {"name": NAME, "arguments": {}})
    assert len(site.asked("tools/call")) == 1


def lengths(place: Place) -> dict[str, bytes]:
    """A call, with ways to hide a second one behind it."""
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    chunked = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"

    def one(content: bytes, *more: tuple[str, str]) -> bytes:
        return request(place.port, content, [*fields, *more])

    both = ("transfer-encoding", "chunked")
    return {
        "chunked and a length": one(chunked, both, ("content-length", str(len(body)))),
        "a length and chunked": one(chunked, ("content-length", "4"), both),
        "two lengths": one(body, ("content-length", str(len(body))), ("content-length", "5")),
        "a list of lengths": one(body, ("content-length", f"{len(body)}, 5")),
        "a length below nothing": one(body, ("content-length", "-1")),
        "a length in hexadecimal": one(body, ("content-length", hex(len(body)))),
        "a length with a plus": one(body, ("content-length", f"+{len(body)}")),
        "a length with a blank before its colon": request(
            place.port, body, [*fields, ("content-length ", "5")]
        ),
        "chunked twice": one(chunked, ("transfer-encoding", "chunked, chunked")),
        "chunked, said oddly": one(chunked, ("transfer-encoding", "xchunked")),
        "a chunk that is no number": one(b"zz\r\n" + body + b"\r\n0\r\n\r\n", both),
        "a folded header": request(
            place.port, body, [*fields, ("x-fold", "a\r\n mcp-name: web__get_echo")]
        ),
        "a header with NUL": request(place.port, body, [*fields, ("x-nul", "a\0b")]),
        "a bare return": request(place.port, body, [*fields, ("x-cr", "a\rmcp-name: b")]),
    }


async def test_a_request_whose_length_is_in_doubt_runs_at_most_once_and_hides_no_other(
    place: Place, site: Site
) -> None:
    body, headers = modern("tools/list", {})
    fields: Fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    hidden = request(place.port, body, fields)
    for what, first in lengths(place).items():
        before = len(site.asked("tools/call"))
        keeping = first.replace(b"connection: close\r\n", b"")
        answers = await send_raw(place.port, keeping + hidden, seconds=2)
        assert answers, what
        assert answers[0].status == 400, what
        assert len(answers) == 1, what
        assert len(site.asked("tools/call")) == before, what


async def test_a_body_that_is_shorter_than_it_says_runs_nothing(place: Place, site: Site) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    said = request(place.port, body, [*fields, ("content-length", str(len(body) + 1))])
    assert await send_raw(place.port, said, seconds=0.5) == []
    assert not site.asked("tools/call")
