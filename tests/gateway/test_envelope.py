"""Messages between processes: no other program can read, make, redirect or repeat them."""

import socket
from collections.abc import AsyncIterator

import anyio
import pytest
from tests.guard.world import Clock

from sayso.errors import SealError
from sayso.gateway.replicas import GoneError, ReplicaClient, open_replicas
from sayso.gateway.replicas.messaging import AGE_SECONDS, Envelopes, ReplicaRequest
from sayso.keys import Keyring
from sayso.store import Database, ReplicaRow

pytestmark = pytest.mark.anyio

KEYS = Keyring.of([b"k" * 32])
OTHERS = Keyring.of([b"o" * 32])


def test_a_request_arrives_as_it_was_sent() -> None:
    request = ReplicaRequest("say", ["session", "text"])

    assert Envelopes(KEYS, "b").open(Envelopes(KEYS, "a").seal(request, "b")) == request


def test_nothing_of_it_can_be_read_on_the_way() -> None:
    sealed = Envelopes(KEYS, "a").seal(ReplicaRequest("say", "secret words"), "b")

    assert b"secret" not in bytes.fromhex(sealed.partition(".")[2])


@pytest.mark.parametrize("keys", [OTHERS, Keyring.of([b"o" * 32, b"p" * 32])])
def test_who_has_not_the_key_sends_nothing(keys: Keyring) -> None:
    forged = Envelopes(keys, "a").seal(ReplicaRequest("end", ["session", None]), "b")

    with pytest.raises(SealError):
        Envelopes(KEYS, "b").open(forged)


def test_what_is_for_one_process_is_not_taken_by_another() -> None:
    with pytest.raises(SealError):
        Envelopes(KEYS, "c").open(Envelopes(KEYS, "a").seal(ReplicaRequest("end", []), "b"))


def test_a_changed_bit_is_noticed() -> None:
    sealed = Envelopes(KEYS, "a").seal(ReplicaRequest("end", []), "b")
    last = "0" if sealed[-1] != "0" else "1"

    with pytest.raises(SealError):
        Envelopes(KEYS, "b").open(sealed[:-1] + last)


def test_the_same_is_not_taken_twice() -> None:
    there = Envelopes(KEYS, "b")
    sealed = Envelopes(KEYS, "a").seal(ReplicaRequest("end", []), "b")
    there.open(sealed)

    with pytest.raises(SealError, match="before"):
        there.open(sealed)


@pytest.mark.parametrize("seconds", [-AGE_SECONDS, AGE_SECONDS])
def test_what_is_old_is_not_taken_and_is_remembered_until_then(seconds: float) -> None:
    clock = Clock()
    there = Envelopes(KEYS, "b", clock)
    sealed = Envelopes(KEYS, "a", clock).seal(ReplicaRequest("end", []), "b")
    there.open(sealed)

    clock.now += seconds
    with pytest.raises(SealError, match="before"):
        there.open(sealed)
    clock.now += seconds / 60
    with pytest.raises(SealError, match="too old"):
        there.open(sealed)


def test_an_answer_is_for_its_question() -> None:
    one, other = ReplicaRequest("say", 1), ReplicaRequest("say", 2)
    sealed = Envelopes(KEYS, "b").seal_reply(one, "done")

    assert Envelopes(KEYS, "a").open_reply(one, sealed) == "done"
    with pytest.raises(SealError):
        Envelopes(KEYS, "a").open_reply(other, sealed)


@pytest.fixture
async def posts(store: Database) -> AsyncIterator[tuple[ReplicaClient, ReplicaClient]]:
    with (
        socket.create_server(("127.0.0.1", 0)) as first,
        socket.create_server(("127.0.0.1", 0)) as second,
    ):
        async with (
            open_replicas(store.replicas, KEYS, first, "127.0.0.1") as here,
            open_replicas(store.replicas, KEYS, second, "127.0.0.1") as there,
        ):
            yield here, there


async def test_a_request_is_handled_and_answered(
    posts: tuple[ReplicaClient, ReplicaClient],
) -> None:
    here, there = posts

    async def double(body: int) -> int:
        return 2 * body

    there.handlers["double"] = double

    assert await here.send(there.name, "double", 21) == 42
    assert await here.send(there.name, "unknown", 21) is None


async def test_whoever_is_gone_is_told_of_at_once(
    posts: tuple[ReplicaClient, ReplicaClient], store: Database
) -> None:
    here, _ = posts
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    row = ReplicaRow("killed", f"127.0.0.1:{port}", " ".join(KEYS.ids))
    await store.replicas.beat(row, seconds=60)

    for name in ("never", "killed"):
        with anyio.fail_after(60), pytest.raises(GoneError):
            await here.send(name, "say", None)


async def test_one_that_hangs_is_given_up(
    posts: tuple[ReplicaClient, ReplicaClient], store: Database
) -> None:
    here, _ = posts
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = f"127.0.0.1:{deaf.getsockname()[1]}"
        await store.replicas.beat(ReplicaRow("deaf", address, "x"), seconds=60)

        with anyio.fail_after(60), pytest.raises(GoneError):
            await here.send("deaf", "say", None, seconds=0.2)


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n\r\n", b"\n", b"\xff\xfe\n", b"a.b\n"])
async def test_a_stranger_gets_no_answer(
    posts: tuple[ReplicaClient, ReplicaClient], line: bytes
) -> None:
    _, there = posts
    assert there.presence is not None
    host, _, port = there.presence.here.address.rpartition(":")

    with anyio.fail_after(60):
        async with await anyio.connect_tcp(host, int(port)) as stream:
            await stream.send(line)
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await stream.receive()


async def test_a_row_is_gone_with_its_process(store: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        async with open_replicas(store.replicas, KEYS, first, "127.0.0.1") as here:
            assert [one.id for one in await store.replicas.all()] == [here.name]

    assert await store.replicas.all() == []


async def test_one_that_shows_no_life_is_off_the_list(store: Database) -> None:
    await store.replicas.beat(ReplicaRow("dead", "127.0.0.1:1", "x"), seconds=-1)

    assert await store.replicas.all() == []
