"""A client of a server under test, with the test's own caller, policy and approver."""

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
from sayso.testing.bound_server import (
    GuardOptions,
    lowlevel_of,
    middleware_of,
    settings_of,
    with_own_guard,
)
from sayso.testing.listing import likely
from sayso.testing.session import target_of

PATIENCE: Final = 2.0

AnyClient = Client | Guarded
"""A test's client; both kinds have `list_tools` and `call_tool`."""

ClientFactory = Callable[..., AbstractAsyncContextManager[AnyClient]]
"""The type of the fixture `sayso_client`: `open_client` with the test's own store."""

_ENDS: Final = (KeyboardInterrupt, SystemExit, GeneratorExit)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The test's changes to the server's policy."""

    policy: Policy | str | Path | None
    mode: Mode | None
    channels: tuple[Channel, ...]

    def over(self, own: Policy | str | Path | None) -> Policy:
        """Return the policy to use, in which the test's channels may answer."""
        check_policy(self.policy, where="policy")
        given = own if self.policy is None else self.policy
        if isinstance(given, str | Path):
            policy = PolicyFile.open(given).policy
        else:
            policy = given or Policy()
        names = {channel.name for channel in self.channels}
        return replace(policy, mode=self.mode or policy.mode, channels=policy.channels | names)


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
) -> AsyncGenerator[AnyClient]:
    """Open a client that calls as `principal`; `approver` answers questions.

    For a server bound with sayso, its own policy decides unless you pass `policy`. For any other
    server, the client is guarded as with `sayso.wrap`. `mode` replaces the policy's mode. A
    question waits up to `patience` seconds for its answer. The log goes to `store`. Raises
    `UsageError` for an unknown mode, and the errors of connecting.

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
        options = GuardOptions(store, principal, None, channels, patience)
        client = await stack.enter_async_context(_connected(server, options, rules))
        try:
            yield client
        except BaseException as error:
            if isinstance(error, (anyio.get_cancelled_exc_class(), *_ENDS)):
                raise
            failure = error
    if failure is not None:
        # Raised outside of task groups, which would wrap it.
        raise failure


@asynccontextmanager
async def _connected(
    server: object, options: GuardOptions, rules: _Rules
) -> AsyncGenerator[AnyClient]:
    target = target_of(server)
    async with AsyncExitStack() as stack:
        if target is None:
            lowlevel = lowlevel_of(server)
            middleware = middleware_of(lowlevel)
            if middleware is not None:
                own = replace(options, policy=rules.over(settings_of(middleware).policy))
                client = Client(with_own_guard(lowlevel, middleware, own))
                yield await stack.enter_async_context(client)
                return
            client = Client(lowlevel)
        else:
            client = await _client_of(target, stack)
        yield await stack.enter_async_context(
            wrap(
                await stack.enter_async_context(client),
                policy=rules.over(None),
                approver=options.channels[0] if options.channels else None,
                audit=options.store,
                principal=options.principal,
                patience=options.patience,
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
    raise UsageError(
        "a saved tools/list cannot be called",
        where=target.path,
        fix="Give the server's command or URL.",
    )


def _http(headers: Mapping[str, str]) -> httpx2.AsyncClient:
    # Encoded here, because values in a configuration need not be ASCII.
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    return httpx2.AsyncClient(headers=encoded, timeout=httpx2.Timeout(None, connect=10.0))


def _mode(word: str | None) -> Mode | None:
    if word is None:
        return None
    if word in tuple(Mode):
        return Mode(word)
    fix = likely(word, Mode) or f"Choose {', '.join(Mode)}."
    raise UsageError(f"unknown mode {word!r}", where="sayso_client", fix=fix)
