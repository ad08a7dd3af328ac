"""A client of a server under test: with a caller, a policy and people of the test's choice."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from sayso.agents import Approver as AnyApprover
from sayso.agents import Guarded, open_channel, wrap
from sayso.approvals import Channel
from sayso.connect import CommandTarget, Target, UrlTarget
from sayso.errors import UsageError
from sayso.guard import PolicyFile
from sayso.policy import Mode, Policy, Principal, check_policy
from sayso.testing.seat import Terms, door_of, lowlevel_of, seated, settings_of
from sayso.testing.session import target_of
from sayso.testing.surface import likely

PATIENCE: Final = 2.0

Guest = Client | Guarded
"""What a test calls tools with; both have `list_tools` and `call_tool`."""

ClientFactory = Callable[..., AbstractAsyncContextManager[Guest]]
"""What the fixture `sayso_client` gives: `open_client` with a store of the test's own."""

_ENDS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What a test says of the policy, to be put over the one that there is."""

    policy: Policy | str | Path | None
    mode: Mode | None
    channels: tuple[Channel, ...]

    def over(self, own: Policy | str | Path | None) -> Policy:
        """The policy to go by. People in a test may answer, whatever channels it has."""
        check_policy(self.policy, where="policy")
        given = own if self.policy is None else self.policy
        if isinstance(given, str | Path):
            found = PolicyFile.open(given).policy
        else:
            found = given or Policy()
        names = {channel.name for channel in self.channels}
        return replace(found, mode=self.mode or found.mode, channels=found.channels | names)


@asynccontextmanager
async def open_client(
    server: object,
    *,
    store: str,
    principal: Principal | None = None,
    approver: AnyApprover = None,
    mode: str | None = None,
    policy: Policy | str | Path | None = None,
    patience: float = PATIENCE,
) -> AsyncGenerator[Guest]:
    """A client that calls as `principal`; `approver` answers what is asked.

    The guard is the server's own if it is bound with sayso, with its policy unless another is
    given; else there is one around the client, as with `sayso.wrap`. `mode` is that of the policy.
    A call waits `patience` seconds for an answer, and the record is kept in `store`. Raises
    `UsageError` for a mode that is none, and what connecting raises.

    >>> import anyio, tempfile
    >>> from mcp.server import MCPServer
    >>> async def main(store: str) -> int:
    ...     async with open_client(MCPServer("crm"), store=store, mode="strict") as client:
    ...         return len((await client.list_tools()).tools)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anyio.run(main, f"sqlite:{folder}/sayso.db")
    0
    """
    failure: BaseException | None = None
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(open_channel(approver))
        channels = () if channel is None else (channel,)
        rules = _Rules(policy, _mode(mode), channels)
        terms = Terms(store, principal, None, channels, patience)
        client = await stack.enter_async_context(_connected(server, terms, rules))
        try:
            yield client
        except BaseException as error:
            if isinstance(error, (anyio.get_cancelled_exc_class(), *_ENDS)):
                raise
            failure = error
    if failure is not None:
        # Outside of the groups of tasks, which would wrap it: a test fails in its own words.
        raise failure


@asynccontextmanager
async def _connected(server: object, terms: Terms, rules: _Rules) -> AsyncGenerator[Guest]:
    target = target_of(server)
    async with AsyncExitStack() as stack:
        if target is None:
            lowlevel = lowlevel_of(server)
            door = door_of(lowlevel)
            if door is not None:
                own = replace(terms, policy=rules.over(settings_of(door).policy))
                client = Client(seated(lowlevel, door, own))
                yield await stack.enter_async_context(client)
                return
            client = Client(lowlevel)
        else:
            client = await _client_of(target, stack)
        yield await stack.enter_async_context(
            wrap(
                await stack.enter_async_context(client),
                policy=rules.over(None),
                approver=terms.channels[0] if terms.channels else None,
                audit=terms.store,
                principal=terms.principal,
                patience=terms.patience,
            )
        )


async def _client_of(target: Target, stack: AsyncExitStack) -> Client:
    if isinstance(target, CommandTarget):
        return Client(
            StdioServerParameters(
                command=target.command,
                args=list(target.args),
                env=dict(target.env) or None,
                cwd=target.cwd,
            )
        )
    if isinstance(target, UrlTarget):
        http = await stack.enter_async_context(_http(target.headers))
        return Client(streamable_http_client(target.url, http_client=http))
    what = "a saved list has no server behind it"
    fix = "Give the server itself."
    raise UsageError(what, where=target.path, fix=fix)


def _http(headers: Mapping[str, str]) -> httpx2.AsyncClient:
    # As bytes: what stands in a configuration need not be ASCII.
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    return httpx2.AsyncClient(headers=encoded, timeout=httpx2.Timeout(None, connect=10.0))


def _mode(word: str | None) -> Mode | None:
    if word is None:
        return None
    if word in tuple(Mode):
        return Mode(word)
    fix = likely(word, Mode) or f"Modes are: {', '.join(Mode)}."
    raise UsageError(f"{word!r} is no mode", where="sayso_client", fix=fix)
