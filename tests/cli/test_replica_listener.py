"""Where the other processes of a gateway reach this one."""

import socket
from typing import Any

import pytest

from sayso.cli.address import Options
from sayso.cli.replica_listener import has_replicas, open_replica_listener
from sayso.errors import UsageError
from sayso.policy import LOCAL, Principal


def options(host: str = "127.0.0.1", store: str = "sqlite:a.db", **more: Any) -> Options:
    return Options(store, host, 0, 60, 45, is_json=False, **more)


def test_one_process_on_a_file_is_alone() -> None:
    assert not has_replicas(options())
    assert has_replicas(options(workers=2))
    assert has_replicas(options(store="postgresql://db/sayso"))
    assert not has_replicas(options(store="postgresql://db/sayso", principal=Principal(LOCAL)))


def reached(given: Options, place: int = 0, database: str | None = None) -> tuple[str, int, str]:
    """Where it listens, and where it says that it does."""
    listener, host = open_replica_listener(given, place, database)
    with listener:
        return (*listener.getsockname()[:2], host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_on_loopback_it_is_reached_there(host: str) -> None:
    where, port, told = reached(options(host))

    assert (where, told) == ("127.0.0.1", "127.0.0.1")
    assert port > 0


def test_everywhere_means_the_address_on_the_way_to_the_database() -> None:
    where, _, told = reached(options("0.0.0.0"), database="127.0.0.1")  # noqa: S104 - what is tested

    assert (where, told) == ("127.0.0.1", "127.0.0.1")


def test_what_is_advertised_counts_and_each_worker_takes_the_next_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1] - 1

    given = options("::1", advertise=f"127.0.0.1:{port}")

    assert reached(given, place=1) == ("127.0.0.1", port + 1, "127.0.0.1")


@pytest.mark.parametrize("text", ["", ":80", "a:b", "http://a", "a b", "a:99999999"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as told:
        open_replica_listener(options(advertise=text or " "), 0, None)

    assert told.value.where == "--advertise"


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot listen"):
        open_replica_listener(options(advertise="192.0.2.1:80"), 0, None)


def test_a_database_that_cannot_be_found_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="cannot determine") as told:
        open_replica_listener(options("0.0.0.0"), 0, "no-such-host.invalid")  # noqa: S104 - what is tested

    assert "--advertise" in str(told.value.fix)
