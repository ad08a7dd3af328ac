"""The normal form of URIs, with the parser of the SDK's clients as the oracle."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic_core import Url

from sayso.gateway.normal_uri import normal_uri

SCHEMES = st.sampled_from(["http", "HTTPS", "ftp", "file", "ws", "memo", "x-a.b+c"])
HOSTS = st.sampled_from(
    ["", "h", "Example.COM", "exämple.com", "straße.de", "a_b", "%41b", "1.2.3.4", "[::A]", "[::1]"]
)
USERS = st.sampled_from(["", "u@", "u:p@", "u:@", "@", "ü/@", "a@b@"])
PORTS = st.sampled_from(["", ":", ":80", ":0443", ":8080"])
SEGMENTS = st.sampled_from(["", "a", "..", ".", "%2E", "%2e.", "a b", "é", "{id}", "%2F", "a|b"])
PATHS = st.lists(SEGMENTS, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))
QUERIES = st.sampled_from(["", "?", "?q=a b'`{}", "?é<>", "?a?b/.."])
FRAGMENTS = st.sampled_from(["", "#", "#f g`'{}", "#é<>", "#?#"])
LOCATED = st.builds(
    "{}://{}{}{}{}{}{}".format, SCHEMES, USERS, HOSTS, PORTS, PATHS, QUERIES, FRAGMENTS
).filter(lambda uri: not uri.startswith("file:") or "//" not in uri[7:])
OPAQUE = st.builds(
    "{}:{}{}{}".format, st.sampled_from(["memo", "urn", "X"]), SEGMENTS, PATHS, QUERIES
)


def by_pydantic(uri: str) -> str:
    try:
        return str(Url(uri))
    except ValueError:
        return uri


@given(LOCATED | OPAQUE)
@example("HTTP://EXAMPLE.com:80")
@example("http:\\\\h\\x")
@example("  x://y\t ")
@example("memo:a/../b c#d e")
@example("x:/a/../b")
@example("file:a")
@example("file:///C:/x/../y")
def test_the_normal_form_is_that_of_the_sdks_clients(uri: str) -> None:
    assert normal_uri(uri) == by_pydantic(uri)


@given(LOCATED | OPAQUE | st.text())
def test_what_a_client_makes_of_a_uri_has_the_same_normal_form(uri: str) -> None:
    assert normal_uri(normal_uri(uri)) == normal_uri(uri)


@pytest.mark.parametrize(
    "uri", ["", "memo", "1x://y", "http://", "http://a b/", "http://h:x/", "x://[1/"]
)
def test_what_is_no_uri_stays_as_it_is(uri: str) -> None:
    assert normal_uri(uri) == uri
    assert by_pydantic(uri) == uri
