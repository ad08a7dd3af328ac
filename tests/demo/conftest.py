"""A database, a server over it, and real clients in both eras of the protocol."""

import os
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.server import MCPServer
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import CallToolResult, TextContent

from sayso.demo.data import Database, open_database
from sayso.demo.server import build_server

Serve = Callable[[Any], AbstractAsyncContextManager[str]]
Say = Callable[[CallToolResult], str]


@pytest.fixture
def database(tmp_path: Path) -> Generator[Database]:
    with open_database(tmp_path / "studio.db") as opened:
        yield opened


@pytest.fixture
def pace() -> float:
    """How long a migration rests after each step; a test that cancels one sets it to an hour."""
    return 0.0


@pytest.fixture
def server(database: Database, pace: float) -> MCPServer[Any]:
    return build_server(database, pace=pace)


@pytest.fixture(params=["legacy", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    """The era of the protocol that the client speaks."""
    return request.param


@pytest.fixture
async def client(server: MCPServer[Any], mode: str) -> AsyncGenerator[Client]:
    """A client in the same process."""
    async with Client(server, mode=mode) as connected:
        yield connected


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., StdioServerParameters]:
    """How to start the demo as a process; it keeps its temporary files below `tmp_path`."""

    def make(*options: str, **variables: str) -> StdioServerParameters:
        # The SDK hands down only a few variables; coverage needs its own to measure the process.
        kept = {name: text for name, text in os.environ.items() if "COV" in name}
        path = os.pathsep.join(one for one in sys.path if one)
        return StdioServerParameters(
            command=sys.executable,
            args=["-m", "sayso.demo.server", *options],
            env={**kept, "PYTHONPATH": path, "TMPDIR": str(tmp_path), **variables},
        )

    return make


@pytest.fixture
def said() -> Say:
    """The text of a tool's error; fails for anything else."""

    def read(answer: CallToolResult) -> str:
        assert answer.is_error
        (block,) = answer.content
        assert isinstance(block, TextContent)
        return block.text

    return read


@pytest.fixture
def cancel_on_progress() -> Callable[[anyio.CancelScope], ProgressFnT]:
    """What to pass as a call's progress callback so that its first message cancels a scope."""

    def make(scope: anyio.CancelScope) -> ProgressFnT:
        async def stop(progress: float, total: float | None, message: str | None) -> None:
            del progress, total, message
            scope.cancel()

        return stop

    return make


@pytest.fixture
def serve() -> Serve:
    """Serve an ASGI application over HTTP on a free port, for as long as the context is open."""

    @asynccontextmanager
    async def start(application: Any) -> AsyncGenerator[str]:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(application, log_config=None, timeout_graceful_shutdown=1)
            runner = uvicorn.Server(config)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(runner.serve, [listener])
                yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
                runner.should_exit = True

    return start
