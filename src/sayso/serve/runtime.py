"""The store, keys and policy of a server, which are opened and closed with the server."""

import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import anyio

from sayso.beside import beside
from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.intent import Trust
from sayso.keys import Keyring, load_keys
from sayso.policy import ANY, DEFAULT_CHANNELS, Policy, Principal, Sight, ToolFacts, is_switched_off
from sayso.serve.lazy_resource import LazyResource
from sayso.store import Database, Head, is_postgres, open_store, store_path

if TYPE_CHECKING:
    from sayso.approvals import Approvals, Channel
    from sayso.guard import Call, FindTool, Guard, PolicyFile

_log: Final = logging.getLogger(__name__)

TEMPORARY: Final = "temporary"
"""The value of `store` for a file that is deleted when the server ends, for tests and trials."""

_HEAD_START: Final = 0.5
"""Seconds until the log opens without a call. The delay lets clients get the tool list first."""

Rules = Policy | str | Path | None


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server's guard.

    `store` is a URL, `""` for the default store, or `TEMPORARY`. `asks` is false if a gateway asks
    people instead. `console` is the address where people answer, or `None`. `channels` are other
    ways to reach people. `patience` is in seconds. `has_principal` is true if the author has set
    the caller of calls without a token.
    """

    policy: Rules = None
    store: str = ""
    console: str | None = None
    channels: "Sequence[Channel]" = ()
    patience: float = 45.0
    asks: bool = True
    announce: Callable[[str], None] = lambda _: None
    has_principal: bool = True


@dataclass(slots=True)
class Runtime:
    """The open store, keys and log of a server, shared by all its connections.

    Store and keys open with the server. Log and guard open with the first call, or shortly after
    the start.
    """

    settings: Settings
    find: "FindTool"
    run: Callable[["Call"], Any]
    sight: Sight = field(default_factory=Sight)
    _file: "PolicyFile | None" = field(init=False)
    _rules: Callable[[], Policy] = field(init=False)
    _store: Database | None = None
    _keys: Keyring | None = None
    _approvals: "Approvals | None" = None
    _lazy_guard: "LazyResource[Guard] | None" = None
    _users: int = 0
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    def __post_init__(self) -> None:
        self._file = _file_of(self.settings)
        self._rules = _Trusting(self._file or _rules_of(self.settings), self.settings.asks)

    @property
    def policy(self) -> Policy:
        return self._rules()

    @property
    def approvals(self) -> "Approvals":
        """The questions to people. Raises `UsageError` while the server does not run."""
        if self._store is None:
            raise _not_running()
        if self._approvals is None:
            from sayso.approvals import Approvals  # noqa: PLC0415 - only if something asks

            self._approvals = Approvals.of(self._store, keys=self._keys)
        return self._approvals

    def sees(self, caller: Principal, tool: Tool) -> tuple[Tool, ToolFacts] | None:
        """Return a tool as this caller sees it, as `Guard.sees`, but without opening the guard."""
        return self.sight.shown(self._rules(), caller, tool)

    def lets_in(self, server: str, subject: str) -> bool:
        """Return whether the policy leaves both this server and this caller on."""
        return not is_switched_off(self._rules(), server=server, subject=subject)

    async def guard(self) -> "Guard":
        """Return the guard. Raises `StoreError`, and `UsageError` while the server does not run."""
        if self._lazy_guard is None:
            raise _not_running()
        return await self._lazy_guard.get()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Keep everything open while any connection uses it. Raises `StoreError`, `KeysError`."""
        async with self._turn:
            if self._users == 0:
                await self._open()
            self._users += 1
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                async with self._turn:
                    self._users -= 1
                    if self._users == 0:
                        self._store = self._approvals = self._lazy_guard = None
                        await self._stack.aclose()

    async def _open(self) -> None:
        url = self.settings.store or None
        if url == TEMPORARY:
            folder = self._stack.enter_context(TemporaryDirectory(prefix="sayso-"))
            url = f"sqlite:{folder}/sayso.db"
        store = open_store(url)
        self._stack.push_async_callback(store.close)
        keys = load_keys(None if is_postgres(url) else store_path(url), is_made=True)
        self._store = store
        self._keys = keys
        guarding = partial(self._guarding, store, keys, self._watching())
        self._lazy_guard = LazyResource(guarding, _HEAD_START)
        self._stack.push_async_callback(self._lazy_guard.close)

    @contextlib.asynccontextmanager
    async def _guarding(
        self, store: Database, keys: Keyring, watching: list[Callable[[], Any]]
    ) -> AsyncGenerator["Guard"]:
        # Imported at the first call, because a client first waits for the tool list.
        from sayso.approvals import listening  # noqa: PLC0415
        from sayso.audit import log_head, open_audit  # noqa: PLC0415
        from sayso.guard import compose_guard  # noqa: PLC0415

        settings = self.settings
        approvals = self.approvals
        emit = log_head
        if settings.store == TEMPORARY:
            emit = _discard_head  # the log will be deleted, so its heads are useless
        async with (
            beside(*watching),
            open_audit(store, keys, emit=emit) as audit,
            listening(approvals),
        ):
            yield compose_guard(
                store,
                audit,
                approvals,
                find_tool=self.find,
                run=self.run,
                policy=self._rules,
                console=settings.console,
                channels=settings.channels,
                keys=keys,
                patience=settings.patience,
                announce=settings.announce,
                sight=self.sight,
            )

    def _watching(self) -> list[Callable[[], Any]]:
        """Return the task that reloads the policy file, if any; an invalid file is ignored."""
        if self._file is None:
            return []
        announce = self.settings.announce
        return [partial(self._file.watch, announce, lambda error: _log.warning("%s", error))]


def _discard_head(_: Head) -> None:
    """Discard the head of a chain."""


def _not_running() -> UsageError:
    return UsageError("this server is not running", fix="Call the server's tools through a client.")


@dataclass(slots=True)
class _Trusting:
    """A policy that trusts the server's own hints, because its author calls `bind`."""

    rules: Callable[[], Policy]
    asks: bool = True
    _author: Policy | None = None
    _made: Policy = field(default_factory=Policy)

    def __call__(self) -> Policy:
        author = self.rules()
        if author is not self._author:
            self._author = author
            self._made = replace(author, asks=self.asks, trust={ANY: Trust.TRUSTED, **author.trust})
        return self._made


def _file_of(settings: Settings) -> "PolicyFile | None":
    if not isinstance(settings.policy, str | Path):
        return None
    from sayso.guard import PolicyFile  # noqa: PLC0415 - slow to import, and only for files

    return PolicyFile.open(settings.policy)


def _rules_of(settings: Settings) -> Callable[[], Policy]:
    if isinstance(settings.policy, Policy):
        author = settings.policy
        return lambda: author
    # Without a policy and without other channels, the client asks its user.
    policy = Policy()
    if settings.console is None and not settings.channels:
        policy = Policy(channels=DEFAULT_CHANNELS | {"elicitation"})
    return lambda: policy
