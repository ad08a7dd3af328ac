"""`wrap`, which adds policy, approvals and the audit log to a connected client."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
from mcp import Client, StdioServerParameters

from sayso.agents.approver import CONSOLE, DEFERRED, PROGRAM, Approver, open_channel
from sayso.agents.guarded import Guarded
from sayso.agents.listing import Listing
from sayso.agents.restarting import open_restarter
from sayso.agents.server import GuardedServer, Rules
from sayso.agents.wire import SendOptions, Wire
from sayso.approvals import Approvals, Channel, listening
from sayso.audit import AuditLog, open_audit
from sayso.connect import CommandTarget, UrlTarget, origin_of
from sayso.errors import UsageError
from sayso.guard import Guard, PolicyFile, compose_guard, keep_quiet
from sayso.intent import Trust
from sayso.keys import load_keys
from sayso.policy import ANY, LOCAL, Mode, Policy, Principal, check_policy, is_reserved
from sayso.schema import digest
from sayso.store import is_postgres, open_store, store_path

TEMPORARY: Final = "temporary"
"""The value of `audit` for a file that is deleted when `wrap` ends, for tests and trials."""

THE_CONSOLE: Final = "the console"

_NAMELESS: Final = "server"
_LONGEST_NAME: Final = 128
_UNWIND_SECONDS: Final = 10.0


@asynccontextmanager
async def wrap(  # noqa: PLR0913 - each is a part of its own, with a default
    client: Client,
    *,
    policy: Policy | str | Path | None = None,
    mode: str | Mode | None = None,
    approver: Approver = None,
    audit: AuditLog | str | None = None,
    principal: Principal | str | None = None,
    server: str | None = None,
    patience: float = 45.0,
    on_wait: Callable[[str], None] = keep_quiet,
) -> AsyncGenerator[Guarded]:
    """Put sayso's guard around a connected client: reads run, destructive calls ask first.

    `policy` is a `Policy` or the path of a policy.toml, which is read once. `mode` overrides the
    policy's mode: `plan`, `guarded` (the default), `strict` or `unattended`. `approver` answers
    questions: `"terminal"`, `"console"` (of a gateway on the same store), a function that takes an
    `Approval` and returns `True`, `False` or `None`, or a `Channel` such as an `ApprovalQueue`.
    With `"deferred"`, a call that asks ends at once, and the program answers later. With `None`,
    calls that ask are refused. `audit` is the log: a store such as `"sqlite:sayso.db"`, an open
    `AuditLog`, `"temporary"`, or by default this user's store. `principal` is the caller for whom
    the agent acts. `server` is the server's name in the policy; by default, the name that the
    server reports. A call waits `patience` seconds for an answer; `on_wait` is called first.

    Raises `PolicyError`, `ConfigError`, `UsageError`, `KeysError` and `StoreError` on entering.

    >>> import anyio
    >>> import sayso
    >>> from mcp import Client
    >>> from sayso.demo.data import open_database
    >>> from sayso.demo.server import build_server
    >>> async def main() -> str:
    ...     with open_database() as database:
    ...         async with (
    ...             Client(build_server(database)) as client,
    ...             sayso.wrap(client, audit="temporary") as guarded,
    ...         ):
    ...             result = await guarded.call_tool("customer_delete", {"customer_id": 12})
    ...             return result.content[0].text.partition(":")[0]
    >>> anyio.run(main)
    'Policy does not allow this call'
    """
    wire = _wire(client)
    rules = _rules(policy, mode)
    async with open_restarter(client) as wire.restarter, AsyncExitStack() as stack:
        channel = await stack.enter_async_context(open_channel(approver))
        _check_way(channel, approver, rules.policy)
        info = await wire.server_info()
        listing = Listing(wire, _name(info, server, rules.policy), _origin(client, info))
        guard = replace(
            _make_guard(listing, await _log(audit, stack), rules),
            console=THE_CONSOLE if approver == CONSOLE else None,
            channels=() if channel is None else (channel,),
            patience=0.0 if approver == DEFERRED else patience,
            repeat_patience=patience,
            announce=on_wait,
        )
        way = PROGRAM if approver == DEFERRED else None
        behind = GuardedServer(wire, listing, guard, _principal(principal, client), rules, way)
        yield Guarded(await stack.enter_async_context(_in_use(behind)))


@asynccontextmanager
async def _in_use(behind: GuardedServer) -> AsyncGenerator[GuardedServer]:
    listing = behind.listing
    async with listening(behind.guard.approvals):
        with behind.wire.forgetting(listing.forget):
            try:
                yield behind
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):
                    await behind.withdraw()
                raise
            finally:
                listing.is_left = True
                with anyio.move_on_after(_UNWIND_SECONDS, shield=True):
                    await behind.unwind()


def _make_guard(listing: Listing, log: AuditLog, rules: Rules) -> Guard:
    store = log.database
    if store is None:
        fix = "Open it with sayso.audit.open_audit, or name a store."
        raise UsageError("the audit log has no database", where="audit", fix=fix)
    return compose_guard(
        store,
        log,
        Approvals.of(store, clock=log.clock, keys=log.keys),
        find_tool=listing.find,
        run=partial(listing.wire.call, SendOptions()),
        policy=rules,
        withdraws=True,
    )


def _wire(client: Client) -> Wire:
    try:
        _ = client.session
    except RuntimeError as error:
        fix = "Enter the client: async with Client(…) as client, sayso.wrap(client) as guarded."
        raise UsageError("the client is not connected", where="wrap", fix=fix) from error
    return Wire(client)


def _rules(policy: Policy | str | Path | None, mode: str | Mode | None) -> Rules:
    check_policy(policy, where="wrap")
    rules = Rules(_read(policy))
    if mode is not None:
        rules.switch(mode)
    return rules


def _read(policy: Policy | str | Path | None) -> Policy:
    if policy is None:
        return Policy()
    if isinstance(policy, Policy):
        return policy
    return PolicyFile.open(policy).policy


def _check_way(channel: Channel | None, approver: Approver, rules: Policy) -> None:
    name = CONSOLE if approver == CONSOLE else channel and channel.name
    if name is not None and name not in rules.channels:
        what = f"the policy does not allow answers over “{name}”"
        fix = f'Add "{name}" to channels under [approvals], or give another approver.'
        raise UsageError(what, where=rules.where, fix=fix)


def _name(info: Mapping[str, Any], server: str | None, rules: Policy) -> str:
    """Return the server's name in the policy. Raises `UsageError` if its own name claims trust."""
    if server is not None:
        return server
    own = info.get("name")
    name = _NAMELESS
    if isinstance(own, str) and own:
        name = own[:_LONGEST_NAME]
    if rules.trust_of(name) is Trust.TRUSTED and rules.trust_of(ANY) is not Trust.TRUSTED:
        what = f"the server calls itself “{name}”, which the policy trusts, but nothing confirms it"
        raise UsageError(what, where="wrap", fix=f'If so, pass server="{name}".')
    return name


def _origin(client: Client, info: Mapping[str, Any]) -> str:
    behind = client.server
    if isinstance(behind, str):
        return origin_of(UrlTarget("", behind))
    if isinstance(behind, StdioServerParameters):
        cwd = None if behind.cwd is None else str(behind.cwd)
        words = tuple(behind.args)
        return origin_of(CommandTarget("", behind.command, words, behind.env or {}, cwd))
    return digest({"kind": type(behind).__qualname__, "server": dict(info)})


def _principal(principal: Principal | str | None, client: Client) -> Principal:
    subject = principal.subject if isinstance(principal, Principal) else principal
    if subject and subject != LOCAL and is_reserved(subject):
        raise UsageError(f"the name {subject!r} is reserved", where="principal")
    if isinstance(principal, Principal):
        return principal
    name = client.client_info and client.client_info.name[:_LONGEST_NAME]
    return Principal(principal or LOCAL, client=name or "agent")


async def _log(audit: AuditLog | str | None, stack: AsyncExitStack) -> AuditLog:
    """Return the audit log. If this opens the log, `stack` closes it."""
    if isinstance(audit, AuditLog):
        return audit
    if audit == TEMPORARY:
        folder = stack.enter_context(TemporaryDirectory(prefix="sayso-"))
        audit = f"sqlite:{folder}/sayso.db"
    try:
        store_file = None if is_postgres(audit) else store_path(audit)
        store = open_store(audit)
    except UsageError as error:
        where = "audit" if error.where == "--store" else error.where
        raise UsageError(error.what, where=where, fix=error.fix) from error
    stack.push_async_callback(_close, store)
    keys = load_keys(store_file, is_made=True)
    return await stack.enter_async_context(open_audit(store, keys))


async def _close(store: Any) -> None:
    with anyio.CancelScope(shield=True):
        await store.close()
