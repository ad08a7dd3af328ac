"""Worker processes are shared fairly, and none outlives what it may do."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.workers import Output
from sayso.workers import pool as pools
from sayso.workers.pool import BusyError, Pool
from sayso.workers.process import Worker

pytestmark = pytest.mark.anyio

HERE = "tests.workers.test_pool"
WAIT_SECONDS = 30
STATM = Path("/proc/self/statm")


def tell(text: str) -> Iterator[bytes]:
    yield text.encode()


def tell_pid() -> Iterator[bytes]:
    yield str(os.getpid()).encode()


def spin() -> Iterator[bytes]:
    yield b"begun"
    while True:
        pass


def eat() -> Iterator[bytes]:
    yield b"begun"
    yield str(len(bytearray(2_000_000_000))).encode()


def fail() -> Iterator[bytes]:
    message = "no"
    raise LookupError(message)
    yield b""


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool(size=2)
    yield made
    made.close()


async def test_a_job_answers_and_its_worker_serves_the_next(pool: Pool) -> None:
    first = await pool.run("amy", f"{HERE}:tell_pid", (), seconds=WAIT_SECONDS)
    again = await pool.run("bob", f"{HERE}:tell_pid", (), seconds=WAIT_SECONDS)
    assert first.is_complete
    assert first.parts == again.parts


async def test_a_job_that_never_ends_is_stopped_with_what_it_told(pool: Pool) -> None:
    output = await pool.run("amy", f"{HERE}:spin", (), seconds=0.3)
    assert (output.parts, output.is_complete) == ((b"begun",), False)
    assert (await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)).last == b"a"


@pytest.mark.skipif(not STATM.exists(), reason="needs Linux")
async def test_a_job_that_eats_memory_is_stopped(pool: Pool) -> None:
    output = await pool.run("amy", f"{HERE}:eat", (), seconds=WAIT_SECONDS)
    assert (output.parts, output.is_complete) == ((b"begun",), False)


async def test_a_job_that_fails_says_so_and_its_worker_is_not_used_again(pool: Pool) -> None:
    with pytest.raises(RuntimeError, match="LookupError"):
        await pool.run("amy", f"{HERE}:fail", (), seconds=WAIT_SECONDS)
    assert (await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)).is_complete


async def test_a_cancelled_job_ends_its_process(pool: Pool) -> None:
    task = asyncio.ensure_future(pool.run("amy", f"{HERE}:spin", (), seconds=WAIT_SECONDS))
    await asyncio.sleep(0)
    assert pool.busy == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (pool.busy, pool.idle) == (0, 0)
    assert (await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)).is_complete


async def test_one_caller_has_one_worker_and_another_caller_has_the_next(pool: Pool) -> None:
    job = pool.run("mallory", f"{HERE}:spin", (), seconds=WAIT_SECONDS)
    spinning = [asyncio.ensure_future(job)]
    for _ in range(2):
        job = pool.run("mallory", f"{HERE}:spin", (), seconds=0.1)
        spinning.append(asyncio.ensure_future(job))
    await asyncio.sleep(0)
    assert (pool.busy, pool.waiting) == (1, 2)
    assert (await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)).last == b"a"
    assert (pool.busy, pool.waiting) == (1, 2)
    spinning[0].cancel()
    _, second, third = await asyncio.gather(*spinning, return_exceptions=True)
    assert [second, third] == [Output((b"begun",), is_complete=False)] * 2


async def test_a_caller_who_lets_too_many_wait_is_refused(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "MAX_WAITING_PER_CALLER", 1)
    first, second = (
        asyncio.ensure_future(pool.run("amy", f"{HERE}:spin", (), seconds=0.2)) for _ in range(2)
    )
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)
    await asyncio.gather(first, second)


async def test_a_job_that_waits_too_long_is_refused_and_leaves_its_place(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "WAIT_SECONDS", 0.01)
    first = asyncio.ensure_future(pool.run("amy", f"{HERE}:spin", (), seconds=0.5))
    await asyncio.sleep(0)
    with pytest.raises(BusyError):
        await pool.run("amy", f"{HERE}:tell", ("a",), seconds=WAIT_SECONDS)
    assert pool.waiting == 0
    await first


def test_a_process_that_lost_its_parent_ends_by_itself() -> None:
    worker = Worker()
    pid = worker.pid
    del worker
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
    raise AssertionError(pid)
