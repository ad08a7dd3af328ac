"""Verification of a server object in this process, without containment, for its author's tests.

An audit hook sees the operations that the server's Python code requests, and the given folders show
the result. C code, other processes and writes to files that are already open elsewhere are not
observed. So no hint can get the verdict “supported”.
"""

import os
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

import anyio

from sayso.catalog import read_tools
from sayso.connect import Fault, RpcError
from sayso.errors import UsageError
from sayso.sandbox import Layer, Place, Role, place_of
from sayso.trace import Effect, Kind, Life
from sayso.verify.confirm import Shrink, confirm
from sayso.verify.control import FirstCalls
from sayso.verify.environment import COMPARED_OUTPUT, no_containment
from sayso.verify.grade.context import CallContext
from sayso.verify.grade.merge import GONE, ON_FILES, UNCHANGED
from sayso.verify.grader import Grader
from sayso.verify.inputs.hints import read_hints
from sayso.verify.inputs.world import make_world, serve_world
from sayso.verify.judge import Confirmed, Profile, ToolEvidence
from sayso.verify.observe.files import FilesWatcher
from sayso.verify.observe.hook import HookWatcher
from sayso.verify.observe.sqlite import SqliteWatcher
from sayso.verify.observed_server import ObservedServer, wait
from sayso.verify.options import CALLS, ObjectTarget, Terms
from sayso.verify.session import Session, say_nothing
from sayso.verify.snapshot_restore import RestoredFolders
from sayso.verify.suspicion import Cleared, Suspicion
from sayso.verify.verdict import Report

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server.lowlevel import Server
    from mcp.server.mcpserver import MCPServer

LIMIT: Final = "the server ran in this process; only an audit hook and the folders were observed"
_CLOCK: Final = 20_000_000
"""The number of nanoseconds by which a file's timestamp may lag behind the clock."""


async def verify_here(
    server: object,
    *,
    folders: Sequence[Path] = (),
    only: Sequence[str] = (),
    hints: Path | None = None,
    profile: Profile = Profile.DEFAULT,
    seed: int = 0,
    calls: int = CALLS,
    timeout: float = 30.0,
) -> Report:
    """Call the tools of a server object, in this process and without containment.

    The tools run with all your rights: use this for your own server, in its tests. `folders` are
    watched as the user's data and restored before each isolated run and at the end. The server's
    memory is not restored. `only` names the tools to call; `timeout` is in seconds per call. A hint
    is refuted or not exercised, never supported. If the server is bound to sayso, calls go through
    its guard; a denied call is no evidence.

    Raises `UsageError` if `server` is not a server or a folder does not exist.

    >>> from mcp.server import MCPServer
    >>> server = MCPServer("demo")
    >>> @server.tool()
    ... def greet() -> str:
    ...     return "hello"
    >>> report = anyio.run(lambda: verify_here(server, calls=1))
    >>> report.is_refuted, report.tools[0].reach.successes
    (False, 1)
    """
    target = ObjectTarget(str(getattr(server, "name", "server")), _connectable(server))
    terms = Terms(
        target=target, only=tuple(only), profile=profile, seed=seed, calls=calls, timeout=timeout
    )
    declared = read_hints(hints)
    started = time.perf_counter()
    with ExitStack() as stack:
        folder = _real(stack.enter_context(TemporaryDirectory(prefix="sayso-verify-")))
        world = await anyio.to_thread.run_sync(make_world, folder / "world")
        world = replace(world, inside=str(world.folder))
        site = stack.enter_context(serve_world())
        watched = [_real(path) for path in folders]
        kept = stack.enter_context(RestoredFolders([*watched, world.folder], folder / "kept"))
        here = InProcessEnvironment(terms, target, kept, allowed=frozenset({site.address}))
        session = Session(terms, say_nothing, here, hints=declared, world=world.with_site(site))
        report = await session.run()
    return replace(report, seconds=time.perf_counter() - started)


def _connectable(server: object) -> "Server[Any] | MCPServer":
    """Return the SDK's server object; FastMCP has it in `_mcp_server`. Raises `UsageError`."""
    from mcp.server.lowlevel import Server  # noqa: PLC0415 - half a second
    from mcp.server.mcpserver import MCPServer  # noqa: PLC0415

    for candidate in (server, getattr(server, "_mcp_server", None)):
        if isinstance(candidate, Server | MCPServer):
            return cast("Server[Any] | MCPServer", candidate)
    what = f"{type(server).__name__} is not a server of the MCP SDK or FastMCP"
    raise UsageError(what, fix="Pass the server object itself.")


def _real(folder: Path | str) -> Path:
    """Return a folder's real path, as in effects. Raises `UsageError` if it is not a folder."""
    path = Path(folder).resolve()
    if not path.is_dir():
        raise UsageError("the folder does not exist", where=str(folder), fix="Create it first.")
    return path


@dataclass(slots=True)
class InProcessEnvironment:
    """An `Environment` in this process. It restores the folders before each start."""

    terms: Terms
    target: ObjectTarget
    kept: RestoredFolders
    allowed: frozenset[str] = frozenset()
    holding: tuple[Layer, ...] = no_containment("the server runs in this process")
    observing: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = ("the server ran in this process, without containment",)
    limit: str = LIMIT
    has_fresh_state: bool = True
    is_safe: bool = True
    grader: Grader = field(default_factory=lambda: Grader(cwd=str(Path.cwd())))
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    @asynccontextmanager
    async def start(self, *, number: int = 0) -> AsyncGenerator[ObservedServer]:
        """Restore the folders and connect to the server, once it is used by nobody else."""
        from mcp import Client  # noqa: PLC0415 - half a second

        async with self._turn, self._connected(Client, number) as server:
            yield server

    @asynccontextmanager
    async def _connected(
        self, client_class: "type[Client]", number: int
    ) -> AsyncGenerator[ObservedServer]:
        await anyio.to_thread.run_sync(self.kept.put_back)
        places = tuple(Place(str(path), path, Role.FIXTURE) for path in self.kept.folders)
        context = CallContext(places, "", allowed=self.allowed)
        target = cast("Server[Any] | MCPServer", self.target.server)
        with TemporaryDirectory(prefix="sayso-seen-") as folder:
            watcher = _Around(places, Path(folder))
            await watcher.begin()
            async with client_class(target) as client:
                connection = _ClientConnection(client)
                tools, _ = read_tools(self.target.name, await connection.entries())
                if not tools:
                    raise UsageError("this server has no tools", where=self.target.name)
                info = {"name": self.target.name}
                server = ObservedServer(
                    tools,
                    info,
                    self.terms.timeout,
                    connection,
                    [watcher],
                    wait,
                    partial(self.grader.grade, context),
                    context.host,
                )
                server.number = number
                await server.settle()
                self.observing = watcher.layers
                yield server
            watcher.close()

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        return await confirm(suspicion, evidence, FirstCalls(self.start), shrink)


@dataclass(slots=True)
class _ClientConnection:
    """The SDK's client as a `Connection`. It stays open as long as the server."""

    client: "Client"
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def entries(self) -> list[Any]:
        found: list[Any] = []
        cursor: str | None = None
        while True:
            page = await self.client.list_tools(cursor=cursor)
            found += [_raw(tool) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def request(
        self, method: str, params: Mapping[str, Any], *, timeout: float | None
    ) -> Mapping[str, Any]:
        """Call a tool; `method` is always `tools/call`. Raises `RpcError`."""
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - with the SDK
        from mcp_types import REQUEST_TIMEOUT  # noqa: PLC0415

        del method
        try:
            return _raw(
                await self.client.call_tool(
                    params["name"], params["arguments"], read_timeout_seconds=timeout
                )
            )
        except MCPError as error:
            fault = {REQUEST_TIMEOUT: Fault.TIMED_OUT}.get(error.code)
            raise RpcError(error.code, error.message, error.data, fault=fault) from error


def _raw(model: Any) -> dict[str, Any]:
    return model.model_dump(by_alias=True, mode="json", exclude_none=True)


class _Around:
    """One `Watcher` for the folders and the hook. It reads the folders while the hook is off."""

    def __init__(self, places: Sequence[Place], folder: Path) -> None:
        self._places = places
        self._hook = HookWatcher()
        self._files = FilesWatcher(places, folder)
        self._rows = SqliteWatcher(places, folder)
        self._since = 0
        self.layer = self._hook.layer

    @property
    def layers(self) -> tuple[Layer, ...]:
        return (self.layer, self._files.layer, self._rows.layer, COMPARED_OUTPUT)

    def close(self) -> None:
        self._files.close()

    async def begin(self) -> None:
        """Look at the folders, then start the hook."""
        await self._files.begin()
        await self._rows.begin()
        self._since = time.time_ns() - _CLOCK
        await self._hook.begin()

    async def end(self, call: int) -> Sequence[Effect]:
        """Stop the hook, then look at the folders."""
        effects: list[Effect] = []
        for effect in await self._hook.end(call):
            is_watched = effect.kind not in ON_FILES or place_of(self._places, effect.target)
            effects.append(effect if is_watched else self._left(effect))
        return (*effects, *await self._files.end(call), *await self._rows.end(call))

    def _left(self, effect: Effect) -> Effect:
        """Set the lifetime of an effect outside the folders, by looking at its file now.

        The hook reports an operation before it runs, so the operation may have failed.
        """
        path = Path(effect.target)
        if "__pycache__" in path.parts:
            return replace(effect, life=Life.RUNTIME, reason="bytecode of a module")
        unchanged = replace(effect, life=Life.TRANSIENT, reason=UNCHANGED)
        is_there = os.path.lexists(path)
        if is_there and (effect.kind is Kind.DELETE or effect.detail.startswith("to ")):
            return unchanged
        if effect.kind is Kind.DELETE or effect.detail.startswith("to "):
            return effect
        if not is_there:
            return replace(effect, life=Life.TRANSIENT, reason=GONE)
        if path.lstat().st_ctime_ns < self._since:
            return unchanged
        return effect
