"""`Host` and `Origin`: a web page cannot choose them, so they tell it from a client."""

import pytest

from sayso.access import Names, is_own_host, is_own_origin, is_same_origin, own_names

LOCAL = own_names("http://127.0.0.1:8321")
PUBLIC = own_names("http://0.0.0.0:8321", "https://sayso.example.com")


def host(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"Host", value.encode("latin-1")) for value in values]


def origin(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"origin", value.encode("latin-1")) for value in values]


@pytest.mark.parametrize(
    "name", ["127.0.0.1:8321", "localhost:8321", "LOCALHOST:8321", "[::1]:8321"]
)
@pytest.mark.parametrize("names", [LOCAL, PUBLIC])
def test_every_loopback_name_with_the_own_port_is_own(name: str, names: Names) -> None:
    assert is_own_host(host(name), names)
    assert is_own_origin(origin(f"http://{name}".lower()), names)


@pytest.mark.parametrize(
    "name", ["sayso.example.com", "SAYSO.example.com", "sayso.example.com:443"]
)
def test_the_public_name_is_own(name: str) -> None:
    assert is_own_host(host(name), PUBLIC)
    assert is_own_origin(origin(f"https://{name}"), PUBLIC)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [""],
        ["evil.example"],
        ["0.0.0.0:8321"],
        ["evil.example:8321"],
        ["127.0.0.1"],
        ["127.0.0.1:80"],
        ["127.0.0.1:8321.evil.example"],
        ["127.0.0.1:8321@evil.example"],
        ["127.0.0.1.:8321"],
        ["sayso.example.com.evil.example"],
        ["sayso.example.com:8321"],
        [" 127.0.0.1:8321"],
        ["127.0.0.1:8321, evil.example"],
        ["127.0.0.1:8321", "127.0.0.1:8321"],
        ["127.0.0.1:8321", "evil.example"],
        ["\xe9"],
    ],
)
@pytest.mark.parametrize("names", [LOCAL, PUBLIC])
def test_any_other_host_is_foreign(values: list[str], names: Names) -> None:
    assert not is_own_host(host(*values), names)


@pytest.mark.parametrize(
    "values",
    [
        ["null"],
        [""],
        ["https://evil.example"],
        ["http://localhost:3000"],
        ["http://sayso.example.com"],
        ["https://127.0.0.1:8321"],
        ["http://127.0.0.1:8321", "https://evil.example"],
        ["file://"],
    ],
)
@pytest.mark.parametrize("names", [LOCAL, PUBLIC])
def test_any_other_origin_is_foreign(values: list[str], names: Names) -> None:
    assert not is_own_origin(origin(*values), names)


def test_a_client_that_is_no_browser_sends_no_origin() -> None:
    assert is_own_origin(host("anything"), LOCAL)
    assert is_own_origin([], LOCAL)


def test_a_default_port_may_be_said_or_left_out() -> None:
    names = own_names("http://127.0.0.1:80", "http://[2001:db8::1]:8080")
    assert {"127.0.0.1", "127.0.0.1:80", "[::1]", "[2001:db8::1]:8080"} <= names.hosts
    assert "[2001:db8::1]" not in names.hosts


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (host("a:1"), True),
        (host("A:1") + origin("http://a:1"), True),
        (host("a:1") + origin("http://b:1"), False),
        (host("a:1") + origin("null"), False),
        (host("a:1") + origin("null") + [(b"sec-fetch-site", b"same-origin")], True),
        ([*host("a:1"), (b"sec-fetch-site", b"cross-site")], False),
        (origin("http://a:1"), False),
    ],
)
def test_a_form_comes_from_the_page_that_it_is_sent_to(
    *, headers: list[tuple[bytes, bytes]], expected: bool
) -> None:
    assert is_same_origin(headers, "http") is expected
