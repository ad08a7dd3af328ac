"""An issuer's keys: rotated, gone, unreachable, asked for by many at once."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.responses import Response
from tests.access import authority as parts
from tests.access.authority import Authority

from sayso.access.issuer import RENEW_SECONDS, USABLE_SECONDS, Issuer
from sayso.access.keyset import ALGORITHMS, read_keys
from sayso.access.refusal import UnfitError
from sayso.access.token import Header
from sayso.connect.fetch import open_fetcher
from sayso.errors import UnreachableError

pytestmark = pytest.mark.anyio

OLD, NEW = Header("RS256", "rsa-1"), Header("RS256", "rsa-2")
DOWN = Response(status_code=503)


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


Made = Callable[..., AbstractAsyncContextManager[Issuer]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(authority: Authority, clock: Clock) -> Made:
    @asynccontextmanager
    async def run(seconds: float = 10.0) -> AsyncGenerator[Issuer]:
        async with open_fetcher(seconds) as fetcher:
            yield Issuer(authority.base, fetcher, tuple(ALGORITHMS), clock=clock)

    return run


async def test_keys_are_fetched_once(authority: Authority, made: Made) -> None:
    async with made() as issuer, anyio.create_task_group() as group:
        for _ in range(32):
            group.start_soon(issuer.key, OLD)
    assert authority.hits["/jwks"] == 1


async def test_a_key_that_the_issuer_begins_to_use_is_found_at_once(
    authority: Authority, made: Made, clock: Clock
) -> None:
    async with made() as issuer:
        await issuer.key(OLD)
        clock.now += RENEW_SECONDS
        authority.keys = [parts.RSA, parts.NEXT]
        assert (await issuer.key(NEW)).kid == "rsa-2"
        assert (await issuer.key(OLD)).kid == "rsa-1"
    assert authority.hits["/jwks"] == 2


async def test_a_key_that_the_issuer_took_back_counts_no_longer(
    authority: Authority, made: Made, clock: Clock
) -> None:
    async with made() as issuer:
        await issuer.key(OLD)
        authority.keys = [parts.NEXT]
        clock.now += 601
        with pytest.raises(UnfitError):
            await issuer.key(OLD)


async def test_a_flood_of_unknown_keys_asks_the_issuer_once(
    authority: Authority, made: Made, clock: Clock
) -> None:
    refused: list[int] = []

    async def one(issuer: Issuer, index: int) -> None:
        with pytest.raises(UnfitError):
            await issuer.key(Header("RS256", f"made-up-{index}"))
        refused.append(index)

    async with made() as issuer:
        await issuer.key(OLD)
        clock.now += RENEW_SECONDS
        async with anyio.create_task_group() as group:
            for index in range(500):
                group.start_soon(one, issuer, index)
        assert authority.hits["/jwks"] == 2
        assert (await issuer.key(OLD)).kid == "rsa-1"
    assert len(refused) == 500


async def test_while_the_issuer_is_down_its_keys_count_for_a_while(
    authority: Authority, made: Made, clock: Clock
) -> None:
    async with made() as issuer:
        await issuer.key(OLD)
        authority.failing["/jwks"] = DOWN
        clock.now += USABLE_SECONDS - 1
        for _ in range(10):
            assert (await issuer.key(OLD)).kid == "rsa-1"
        assert authority.hits["/jwks"] == 2  # not once for each that calls meanwhile
        clock.now += 2
        for _ in range(10):
            with pytest.raises(UnreachableError):
                await issuer.key(OLD)
        del authority.failing["/jwks"]
        clock.now += RENEW_SECONDS
        assert (await issuer.key(OLD)).kid == "rsa-1"


async def test_an_issuer_that_hangs_holds_up_nobody_whose_key_is_known(
    authority: Authority, made: Made, clock: Clock
) -> None:
    async with made(0.5) as issuer:
        await issuer.key(OLD)
        clock.now += 601
        authority.is_hanging = True
        authority.hits.clear()
        async with anyio.create_task_group() as group:
            group.start_soon(issuer.key, OLD)  # requests newer keys
            while not authority.hits:
                await anyio.sleep(0.01)
            with anyio.fail_after(0.3):
                assert (await issuer.key(OLD)).kid == "rsa-1"


async def test_whoever_gives_up_waiting_leaves_the_next_to_ask(
    authority: Authority, made: Made
) -> None:
    authority.is_hanging = True
    async with made(5.0) as issuer:
        with anyio.move_on_after(0.1):
            await issuer.key(OLD)
        authority.is_hanging = False
        assert (await issuer.key(OLD)).kid == "rsa-1"


RSA = parts.RSA.as_dict(private=False)


def small() -> dict[str, Any]:
    key = rsa.generate_private_key(65537, 1024)  # noqa: S505 - too short is the point
    modulus = key.public_key().public_numbers().n.to_bytes(128)
    return {**RSA, "kid": "odd", "n": urlsafe_b64encode(modulus).rstrip(b"=").decode()}


ODD: dict[str, Any] = {
    "a shared secret": {"kty": "oct", "k": "c2VjcmV0", "kid": "odd"},
    "a key for encryption": {**RSA, "kid": "odd", "use": "enc"},
    "a key that only signs": {**RSA, "kid": "odd", "key_ops": ["sign"]},
    "operations that are a text": {**RSA, "kid": "odd", "key_ops": "verify"},
    "a private key": {**parts.RSA.as_dict(private=True), "kid": "odd"},
    "a key too short": small(),
    "a key for an algorithm that is not permitted": {**RSA, "kid": "odd", "alg": "HS256"},
    "a key with a part missing": {"kty": "RSA", "kid": "odd", "e": "AQAB"},
    "a key with a broken part": {**RSA, "kid": "odd", "n": "!"},
    "a curve of another kind": {"kty": "EC", "crv": "secp256k1", "kid": "odd", "x": "", "y": ""},
    "a curve that is a list": {"kty": "EC", "crv": ["P-256"], "kid": "odd"},
    "a point that is not on its curve": {
        "kty": "EC", "crv": "P-256", "kid": "odd", "x": "AA", "y": "AA",
    },
    "a name that is a number": {**RSA, "kid": 7},
    "no key at all": "odd",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ODD))
def test_what_is_no_key_to_verify_with_is_passed_over(name: str) -> None:
    keys = read_keys({"keys": [ODD[name], RSA]}, ALGORITHMS)
    assert keys is not None
    assert [one.kid for one in keys.keys] == ["rsa-1"]
    assert "n=" not in repr(keys)


def test_a_key_serves_only_the_algorithms_of_its_kind() -> None:
    ec = parts.EC.as_dict(private=False)
    keys = read_keys({"keys": [RSA, {**ec, "alg": "ES256"}]}, ["RS256", "ES256", "ES384"])
    assert keys is not None
    found = {one.kid: one.algorithms for one in keys.keys}
    assert found == {"rsa-1": {"RS256"}, "ec-1": {"ES256"}}
    assert keys.find("ec-1", "RS256") is None
    assert keys.find("rsa-1", "ES256") is None


def test_without_a_name_only_the_one_key_there_is_will_do() -> None:
    other = {**RSA, "kid": "rsa-9"}
    one, two = read_keys({"keys": [RSA]}, ALGORITHMS), read_keys({"keys": [RSA, other]}, ALGORITHMS)
    assert one is not None
    assert two is not None
    assert one.find(None, "RS256") is not None
    assert two.find(None, "RS256") is None
    assert two.find("rsa-9", "RS256") is not None


def test_two_keys_of_one_name_are_none() -> None:
    keys = read_keys({"keys": [RSA, RSA]}, ALGORITHMS)
    assert keys is not None
    assert keys.find("rsa-1", "RS256") is None
