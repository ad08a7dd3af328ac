"""Doors that are none: paths that lead elsewhere, foreign names, pages of others."""

import pytest
from tests.attacks.serving import Place, call_of, request, send_raw
from tests.connect.servers.web import Site

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

PATHS = (
    "/servers/../mcp",
    "/servers/web/../../mcp",
    "/servers/%2e%2e/mcp",
    "/servers/web/%2e%2e/web/mcp",
    "/servers/web%2f..%2fweb/mcp",
    "/servers/web%00/mcp",
    "/servers/web%0d%0aX:y/mcp",
    "/servers//mcp",
    "/servers/mcp",
    "/servers/WEB/mcp",
    "/servers/web./mcp",
    "/servers/web;x/mcp",
    "/servers/*/mcp",
    "/servers/w%C0%AFeb/mcp",
    "//mcp",
    "/mcp/",
    "/mcp//",
    "/MCP",
    "/./mcp",
    "/mcp/../mcp",
    "/mcp%20",
    "/mcp%00",
    "\\mcp",
    "/servers/web/mcp/",
    "/servers/web//mcp",
)


@pytest.mark.parametrize("path", PATHS)
async def test_a_path_that_is_no_door_to_the_letter_is_none(
    place: Place, site: Site, path: str
) -> None:
    body, headers = call_of("add_note" if "servers" in path else NAME)
    token = place.token(aud=[place.url, f"{place.base}/servers/web/mcp", f"{place.base}{path}"])
    fields = [("authorization", f"Bearer {token}"), *headers.items()]
    (answer,) = await send_raw(place.port, request(place.port, body, fields, path=path))
    assert answer.status in (400, 404, 405)
    assert "location" not in answer.head.lower()
    assert b"web" not in answer.body
    assert not site.requests


@pytest.mark.parametrize("path", ["/servers/w%65b/mcp", "/servers/web/mcp?server=../x", "/m%63p"])
async def test_another_spelling_of_a_door_is_that_door_with_its_own_audience(
    place: Place, site: Site, path: str
) -> None:
    is_alone = "servers" in path
    body, headers = call_of("add_note" if is_alone else NAME)
    wrong = f"{place.base}/servers/{'x' if is_alone else 'web'}/mcp"
    for token in (place.token(aud=wrong), place.token(aud="https://elsewhere.example")):
        fields = [("authorization", f"Bearer {token}"), *headers.items()]
        (answer,) = await send_raw(place.port, request(place.port, body, fields, path=path))
        assert answer.status == 401
    assert not site.requests


HOSTS = (
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example:{port}",
    "evil.example@127.0.0.1:{port}",
    "0.0.0.0:{port}",
    "127.1:{port}",
    "127.0.0.1:{port}, evil.example",
    "2130706433:{port}",
    "localhost.:{port}",
    "",
)


@pytest.mark.parametrize("host", HOSTS)
async def test_a_host_that_is_not_saysos_own_reaches_nothing(
    place: Place, site: Site, host: str
) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    told = ("host", host.format(port=place.port))
    (answer,) = await send_raw(place.port, request(place.port, body, [told, *fields]))
    assert answer.status == 421
    assert not site.requests


ORIGINS = (
    "http://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:{port}.evil.example",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:{port} http://evil.example",
    "http://localhost:1",
    "",
)


@pytest.mark.parametrize("origin", ORIGINS)
async def test_a_page_of_others_reaches_nothing_even_with_a_good_token(
    place: Place, site: Site, origin: str
) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    told = ("origin", origin.format(port=place.port))
    (answer,) = await send_raw(place.port, request(place.port, body, [told, *fields]))
    assert answer.status == 403
    assert not site.requests


async def test_two_hosts_or_two_origins_are_nobodys(place: Place, site: Site) -> None:
    body, headers = call_of(NAME)
    fields = [("authorization", f"Bearer {place.token()}"), *headers.items()]
    own = f"127.0.0.1:{place.port}"
    for first, second in (
        (("host", own), ("host", "evil.example")),
        (("host", "evil.example"), ("host", own)),
        (("origin", f"http://{own}"), ("origin", "http://evil.example")),
        (("authorization", "Bearer x"), ("x", "y")),
    ):
        (answer,) = await send_raw(place.port, request(place.port, body, [first, second, *fields]))
        assert answer.status in (400, 401, 403, 421), (first, second)
    assert not site.requests
