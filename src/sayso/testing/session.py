"""A connection to whatever is under test: an object in this process, or a target."""

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
from sayso.testing.seat import Terms, declared_in, door_of, lowlevel_of, seated

SECONDS: Final = 30.0
_MOST_PAGES: Final = 1000
_COMMAND: Final = "-- "
_KINDS: Final[Mapping[Fault | None, type[SaysoError]]] = {
    Fault.TIMED_OUT: TimedOutError,
    Fault.UNAUTHORIZED: AuthenticationError,
}

Request = Callable[[str, Mapping[str, Any]], Coroutine[Any, Any, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Session:
    """An open connection; `request` gives a result as received, and raises `RpcError`.

    `declared` has a bound server's tools as their author declares them: what it lists has values
    for hints that nobody declared, too.
    """

    name: str
    request: Request
    is_in_process: bool
    declared: Callable[[], list[Any]] | None = None

    async def entries(self) -> list[Any]:
        """Every entry of `tools/list`, as received. Raises a `SaysoError` that says why not."""
        found: list[Any] = []
        params: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            try:
                page = await self.request("tools/list", params)
            except RpcError as error:
                kind = _KINDS.get(error.fault, UnreachableError)
                raise kind(f"tools/list failed: {error}", where=self.name) from error
            tools = page.get("tools")
            if not isinstance(tools, list):
                raise NotMcpError("its tools/list holds no list of tools", where=self.name)
            found += cast("list[Any]", tools)
            if not isinstance(page.get("nextCursor"), str):
                if self.declared is None:
                    return found
                return self.declared()
            params = {"cursor": page["nextCursor"]}
        raise NotMcpError(f"its tools/list does not end after {_MOST_PAGES} pages", where=self.name)


def target_of(server: object) -> Target | None:
    """The target that `server` names; `None` for an object in this process.

    Raises `TargetError` and `ConfigError`.
    """
    if isinstance(server, CommandTarget | UrlTarget | SavedTarget):
        return server
    if isinstance(server, str) and server.startswith(_COMMAND):
        found = parse_target(shlex.split(server.removeprefix(_COMMAND)), is_command=True)
    elif isinstance(server, str | Path):
        found = parse_target([str(server)])
    elif isinstance(server, list | tuple):
        words = cast("Sequence[object]", server)
        found = parse_target([str(word) for word in words], is_command=True)
    else:
        return None
    if len(found) != 1:
        names = ", ".join(target.name for target in found)
        what = f"a test is about one server, and this names {len(found)}"
        word = str(cast("object", server))
        raise TargetError(what, where=word, fix=f"Name one: {word}#NAME ({names}).")
    return found[0]


@asynccontextmanager
async def open_session(server: object, *, timeout: float = SECONDS) -> AsyncGenerator[Session]:
    """Connect to `server`, around whatever guard it is bound to; `timeout` in seconds.

    Nothing is hidden, refused or asked, and the record goes to a file that is deleted afterwards.
    Raises a `SaysoError` that says why there is no connection.
    """
    target = target_of(server)
    if isinstance(target, SavedTarget):
        what = "a saved list has no server behind it"
        fix = "Give the server itself."
        raise UsageError(what, where=target.path, fix=fix)
    if target is not None:
        async with (
            open_proof(target) as proof,
            open_link(target, timeout=timeout, proof=proof) as link,
        ):
            yield Session(target.name, partial(link.request, timeout=timeout), is_in_process=False)
        return
    from mcp import Client  # noqa: PLC0415 - half a second, and a target goes without

    lowlevel = lowlevel_of(server)
    with TemporaryDirectory(prefix="sayso-test-") as folder:
        door = door_of(lowlevel)
        inside = lowlevel
        declared = None
        if door is not None:
            policy = Policy(mode=Mode.OBSERVE)
            store = f"sqlite:{folder}/sayso.db"
            inside = seated(lowlevel, door, Terms(store, Principal(LOCAL), policy))
            declared = partial(declared_in, door)
        async with Client(inside) as client:
            request = partial(Wire(client).request, timeout=timeout)
            yield Session(lowlevel.name, request, is_in_process=True, declared=declared)
