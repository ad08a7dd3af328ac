"""A disk that is full: `sayso gateway` with its store on a small file system that is filled."""

import json
import os
import subprocess
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from tests.cli.running import COMMAND, environment
from tests.connect.servers.web import MODERN, OLD, Exchange, Site, serve_web
from tests.connect.serving import raw_client, until

pytestmark = pytest.mark.anyio

SIZE = 4 * 1024 * 1024
MOUNTED = f'mount -t tmpfs -o size={SIZE} tmpfs "$1" && shift && exec "$@"'


@dataclass(frozen=True)
class Small:
    """A gateway, and its small disk as it is seen from here."""

    url: str
    disk: Path
    pid: int
    store: str

    def fill(self) -> None:
        filler = os.open(self.disk / "filler", os.O_CREAT | os.O_WRONLY)
        with suppress(OSError):
            while True:
                os.write(filler, b"x" * 4_096)
        os.close(filler)
        assert os.statvfs(self.disk).f_bfree == 0

    def free(self) -> None:
        (self.disk / "filler").unlink()

    def audit(self, *words: str) -> str:
        """What `sayso audit` says of its store, which is seen only from within its namespace."""
        user = () if os.getuid() == 0 else ("--user", "--preserve-credentials")
        enter = ("nsenter", "--target", str(self.pid), "--mount", *user)
        command = (*enter, *COMMAND, "audit", *words, "--store", self.store)
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, timeout=30, check=True
        )
        return done.stdout

    def is_told(self, outcome: str) -> bool:
        return f'"{outcome}"' in self.audit("list", "--json")


@contextmanager
def on_a_small_disk(folder: Path, target: str) -> Generator[Small]:
    """The gateway in a mount namespace of its own, whose disk nobody else has."""
    folder.mkdir()
    store = f"sqlite:{folder / 'a.db'}"
    words = (*COMMAND, "gateway", target, "--port", "0", "--json", "--store", store)
    # Another user than root may mount only where it is root: in a namespace of its own.
    alone = ("unshare", "--mount") + (() if os.getuid() == 0 else ("--user", "--map-root-user"))
    command = (*alone, "sh", "-c", MOUNTED, "sh", str(folder), *words)
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said, process.communicate(timeout=10)[1]
            disk = Path(f"/proc/{process.pid}/root{folder}")
            yield Small(json.loads(said)["mcp"], disk, process.pid, store)
        finally:
            process.terminate()
            process.communicate(timeout=40)


@pytest.fixture
def site() -> Generator[Site]:
    with serve_web() as running:
        yield running


@pytest.mark.parametrize("era", [MODERN, OLD])
async def test_while_the_disk_is_full_nothing_is_written_to_and_then_it_goes_on(
    era: str, site: Site, tmp_path: Path
) -> None:
    with on_a_small_disk(tmp_path / "disk", site.url) as small:
        async with raw_client(small.url, era) as client:
            (name,) = [
                one["name"]
                for one in (await client.result("tools/list"))["tools"]
                if one["name"].endswith("add_note")
            ]
            assert "isError" not in await client.call(name)
            small.fill()
            ran = len(site.asked("tools/call"))
            refused = [await client.call(name) for _ in range(5)]
            assert all("cannot write its log" in str(one["content"]) for one in refused)
            assert all("Nothing was run" in str(one["content"]) for one in refused)
            assert len(site.asked("tools/call")) == ran
            small.free()
            assert "isError" not in await client.call(name)
            assert len(site.asked("tools/call")) == ran + 1


async def test_reads_are_refused_too_once_one_could_not_be_recorded(
    site: Site, tmp_path: Path
) -> None:
    with on_a_small_disk(tmp_path / "disk", site.url) as small:
        async with raw_client(small.url, MODERN) as client:
            tools = (await client.result("tools/list"))["tools"]
            (name,) = [one["name"] for one in tools if one["name"].endswith("get_echo")]
            assert "isError" not in await client.call(name, {"text": "a"})
            small.fill()
            with anyio.fail_after(60):
                while "isError" not in await client.call(name, {"text": "a"}):
                    await anyio.sleep(0.005)
            ran = len(site.asked("tools/call"))
            refused = [await client.call(name, {"text": "a"}) for _ in range(10)]
            assert all("cannot write its log" in str(one["content"]) for one in refused)
            assert len(site.asked("tools/call")) == ran
            small.free()
            assert "isError" not in await client.call(name, {"text": "a"})


async def test_a_call_that_ends_on_a_full_disk_is_answered_and_its_end_written_later(
    site: Site, tmp_path: Path
) -> None:
    go_on = threading.Event()

    def waits(exchange: Exchange) -> None:
        go_on.wait(60)
        exchange.result({"content": [{"type": "text", "text": "done"}]})

    site.faults["tools_call"] = waits
    results: list[str] = []
    with on_a_small_disk(tmp_path / "disk", site.url) as small:
        async with raw_client(small.url, MODERN) as client, anyio.create_task_group() as group:
            tools = (await client.result("tools/list"))["tools"]
            (name,) = [one["name"] for one in tools if one["name"].endswith("add_note")]

            async def call() -> None:
                results.append((await client.call(name))["content"][0]["text"])

            group.start_soon(call)
            await until(lambda: bool(site.asked("tools/call")))
            small.fill()
            go_on.set()
            await until(lambda: bool(results))
            small.free()
            with anyio.fail_after(60):
                while not await anyio.to_thread.run_sync(small.is_told, "ok"):
                    await anyio.sleep(0.005)
            small.audit("verify")
    assert results == ["done"]
    assert len(site.asked("tools/call")) == 1
