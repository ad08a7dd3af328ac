"""A connection to a server under test: an object in this process, or a target."""

import shlex
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from sayso.agents import Wire
from sayso.connect import (
    CommandTarget,
    Fault,
    RpcError,
    SavedTarget,
    Target,
    UrlTarget,
    open_link,
    open_proof,
    parse_target,
)
from sayso.errors import (
    AuthenticationError,
    NotMcpError,
    SaysoError,
    TargetError,
    TimedOutError,
    UnreachableError,
    UsageError,
)
from sayso.policy import LOCAL, Mode, Policy, Principal
from sayso.testing.bound_server import (
    GuardOptions,
    declared_in,
    lowlevel_of,
    middleware_of,
    with_own_guard,
)

TIMEOUT_SECONDS: Final = 30.0
_MAX_PAGES: Final = 1000
_COMMAND: Final = "-- "
_KINDS: Final[Mapping[Fault | None, type[SaysoError]]] = {
    Fault.TIMED_OUT: TimedOutError,
    Fault.UNAUTHORIZED: AuthenticationError,
}

Request = Callable[[str, Mapping[str, Any]], Coroutine[Any, Any, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Session:
    """An open connection; `request` returns a result as received, and raises `RpcError`.

    `declared` returns a bound server's tools as declared; its list also has values for undeclared
    hints.
    """

    name: str
    request: Request
    is_in_process: bool
    declared: Callable[[], list[Any]] | None = None

    async def entries(self) -> list[Any]:
        """Return all entries of `tools/list`, as received. Raises `SaysoError`."""
        entries: list[Any] = []
        params: dict[str, Any] = {}
        for _ in range(_MAX_PAGES):
            try:
                page = await self.request("tools/list", params)
            except RpcError as error:
                kind = _KINDS.get(error.fault, UnreachableError)
                raise kind(f"tools/list failed: {error}", where=self.name) from error
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise NotMcpError("tools/list returned no list of tools", where=self.name)
            entries += cast("list[Any]", tools)
            if not isinstance(page.get("nextCursor"), str):
                return entries if self.declared is None else self.declared()
            params = {"cursor": page["nextCursor"]}
        raise NotMcpError(f"tools/list has more than {_MAX_PAGES} pages", where=self.name)


def target_of(server: object) -> Target | None:
    """Return the target that `server` names; `None` for an object in this process.

    Raises `TargetError` and `ConfigError`.
    """
    if isinstance(server, CommandTarget | UrlTarget | SavedTarget):
        return server
    if isinstance(server, str) and server.startswith(_COMMAND):
        targets = parse_target(shlex.split(server.removeprefix(_COMMAND)), is_command=True)
    elif isinstance(server, str | Path):
        targets = parse_target([str(server)])
    elif isinstance(server, list | tuple):
        words = cast("Sequence[object]", server)
        targets = parse_target([str(word) for word in words], is_command=True)
    else:
        return None
    if len(targets) != 1:
        names = ", ".join(target.name for target in targets)
        what = f"a test requires one server, got {len(targets)}"
        word = str(cast("object", server))
        raise TargetError(what, where=word, fix=f"Name one: {word}#NAME ({names}).")
    return targets[0]


@asynccontextmanager
async def open_session(
    server: object, *, timeout: float = TIMEOUT_SECONDS
) -> AsyncGenerator[Session]:
    """Connect to `server` without its policy; `timeout` in seconds.

    No tool is hidden, denied or held for approval, and the log is temporary. Raises `SaysoError` if
    there is no connection.
    """
    target = target_of(server)
    if isinstance(target, SavedTarget):
        raise UsageError(
            "a saved tools/list cannot be called",
            where=target.path,
            fix="Give the server's command or URL.",
        )
    if target is not None:
        async with (
            open_proof(target) as proof,
            open_link(target, timeout=timeout, proof=proof) as link,
        ):
            yield Session(target.name, partial(link.request, timeout=timeout), is_in_process=False)
        return
    from mcp import Client  # noqa: PLC0415 - takes half a second, and targets do not need it

    lowlevel = lowlevel_of(server)
    with TemporaryDirectory(prefix="sayso-test-") as folder:
        middleware = middleware_of(lowlevel)
        inside = lowlevel
        declared = None
        if middleware is not None:
            policy = Policy(mode=Mode.OBSERVE)
            store = f"sqlite:{folder}/sayso.db"
            inside = with_own_guard(
                lowlevel, middleware, GuardOptions(store, Principal(LOCAL), policy)
            )
            declared = partial(declared_in, middleware)
        async with Client(inside) as client:
            request = partial(Wire(client).request, timeout=timeout)
            yield Session(lowlevel.name, request, is_in_process=True, declared=declared)
