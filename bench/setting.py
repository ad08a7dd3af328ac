"""The programs that a measurement of the gateway needs, each started in a folder that goes away."""

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Final

from load import MODERN, Caller, Endpoint, Work
from others import OTHERS, MissingError

HERE: Final = Path(__file__).parent
SAYSO: Final = str(Path(sys.executable).with_name("sayso"))
NAME: Final = "behind"
DIRECT, BYTES, OURS = "direct", "bytes only", "sayso"
ECHO: Final = Work("first call", "get_echo", 1, {"text": "hello"})


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def started(words: Sequence[str], cwd: Path) -> Generator[int]:
    """A program, by the number of its process; it ends when this is left."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(words, stdout=quiet, stderr=quiet, cwd=cwd) as process:
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


async def until_good(endpoint: Endpoint, seconds: float = 30.0) -> float:
    """Wait for the first good call; seconds until then."""
    start = time.perf_counter()
    while True:
        with contextlib.suppress(OSError, TimeoutError):
            caller = await Caller.open(endpoint)
            is_good = await caller.ask(caller.request(ECHO))
            await caller.close()
            if is_good:
                return time.perf_counter() - start
        if time.perf_counter() - start > seconds:
            message = f"{endpoint.name} gives no good answer in {endpoint.version}"
            raise RuntimeError(message)
        await asyncio.sleep(0.01)


class Setting:
    """The programs of a run, in a folder of their own."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.folder, self.stack = folder, stack

    def start(self, name: str, words: Sequence[str], port: int, prefix: str = "") -> Endpoint:
        """Start an endpoint."""
        pid = self.stack.enter_context(started(words, self.folder))
        return Endpoint(name, f"http://127.0.0.1:{port}/mcp", MODERN, pid, prefix)

    def behind(self, tools: int) -> Endpoint:
        """The server that all stand before."""
        port = free_port()
        words = [sys.executable, str(HERE / "behind.py"), str(port), str(tools)]
        return self.start(DIRECT, words, port)

    def sayso(
        self,
        url: str,
        *,
        program: str = SAYSO,
        name: str = OURS,
        store: str | None = None,
        servers: int = 1,
    ) -> Endpoint:
        """Start the gateway with its defaults; `program` is the `sayso` command to run.

        `url` is the server under each of so many names.
        """
        port = free_port()
        config = self.folder / f"{port}.json"
        names = [NAME, *(f"{NAME}{number}" for number in range(1, servers))]
        text = json.dumps({"mcpServers": {one: {"url": url} for one in names}})
        config.write_text(text, encoding="utf-8")
        store = store or f"sqlite:{self.folder / f'{port}.db'}"
        words = [program, "gateway", str(config), "--port", str(port), "--store", store]
        return self.start(name, words, port, f"{NAME}__")

    def forward(self, url: str) -> Endpoint:
        """A proxy that forwards bytes."""
        port = free_port()
        return self.start(BYTES, [sys.executable, str(HERE / "forward.py"), str(port), url], port)

    async def others(self, url: str) -> list[Endpoint]:
        """What others have made, once for each version it speaks; says why one is left out."""
        found: list[Endpoint] = []
        for other in OTHERS:
            port = free_port()
            try:
                words = other.words(other.install(), url, port)
                started = self.start(other.name, words, port)
                for version in other.versions:
                    one = Endpoint(other.name, started.url, version, started.pid)
                    await until_good(one)
                    found.append(one)
            except (MissingError, RuntimeError) as error:
                print(f"left out: {other.name}: {error}", file=sys.stderr)
        return found
