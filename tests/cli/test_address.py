"""Where a gateway listens: elsewhere than on this machine only where callers say who they are."""

from dataclasses import replace

import pytest

from sayso.cli.address import Options, listen
from sayso.errors import PortInUseError, UsageError


def options(host: str, access: str | None = None, public_url: str | None = None) -> Options:
    return Options(None, host, 0, 60, 45, False, access=access, public_url=public_url)  # noqa: FBT003 - `is_json`


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])  # noqa: S104 - what is refused
def test_without_access_only_this_machine_is_served(host: str) -> None:
    with pytest.raises(UsageError) as caught:
        listen(options(host, public_url="https://sayso.example.com"))
    assert caught.value.where == "--host"
    assert "--access FILE" in str(caught.value)


def test_with_access_the_name_by_which_others_call_must_be_known() -> None:
    with pytest.raises(UsageError) as caught:
        listen(options("0.0.0.0", "access.toml"))  # noqa: S104 - as above
    assert caught.value.where == "--public-url"


@pytest.mark.parametrize("url", ["https://sayso.example.com", "https://example.com/sayso/"])
def test_with_both_others_are_served(url: str) -> None:
    with listen(options("0.0.0.0", "access.toml", url)) as listener:  # noqa: S104 - as above
        assert listener.getsockname()[0] == "0.0.0.0"  # noqa: S104 - as above


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sayso.example.com", "not http:// or https://"),
        ("http://sayso.example.com", "must use https"),
        ("https://amy:x@sayso.example.com", "a user name or a password"),
        ("https://sayso.example.com/mcp", "not the base URL of a gateway"),
        ('https://sayso.example.com/"', "not the base URL of a gateway"),
        ("https://ävow.example.com", "not the base URL of a gateway"),
        ("https://sayso.example.com?x=1", "not the base URL of a gateway"),
    ],
)
def test_a_name_that_others_cannot_call_safely_is_refused(url: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        listen(options("127.0.0.1", "access.toml", url))
    assert caught.value.where == "--public-url"


def test_on_this_machine_nothing_needs_to_be_said() -> None:
    for host, url in (("127.0.0.1", None), ("localhost", "http://localhost:9000"), ("::1", None)):
        listen(options(host, public_url=url)).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
@pytest.mark.parametrize("url", ["https://sayso.example.com", "https://192.0.2.7:8321"])
def test_a_public_url_is_refused_where_nothing_says_who_may_call(host: str, url: str) -> None:
    with pytest.raises(UsageError, match="--public-url: requires --access") as caught:
        listen(options(host, public_url=url))
    assert caught.value.where == "--public-url"


def test_a_port_that_is_only_preferred_gives_way_to_a_free_one() -> None:
    with listen(options("127.0.0.1")) as first:
        taken = replace(options("127.0.0.1"), port=first.getsockname()[1])
        with pytest.raises(PortInUseError):
            listen(taken)
        with listen(replace(taken, is_port_preferred=True)) as second:
            assert second.getsockname()[1] not in {0, taken.port}
