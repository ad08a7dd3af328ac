"""The guard of one server, with its store and log: opened with the server, closed with it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import anyio

from avow.approvals import Approvals, Channel, listening
from avow.audit import AuditLog, Emit, log_head, open_audit
from avow.beside import beside
from avow.errors import UsageError
from avow.guard import Answer, Call, Guard
from avow.guard.pipeline import FindTool
from avow.intent import Trust
from avow.keys import Keyring, load_keys
from avow.policy import Policy
from avow.policy.document import ANY, DEFAULT_CHANNELS
from avow.store import Head, is_postgres, open_store, store_path

if TYPE_CHECKING:
    from avow.guard import PolicyFile

_log: Final = logging.getLogger(__name__)

TEMPORARY: Final = "temporary"
"""Keeps the record in a file that is deleted when the server ends: for tests and trials."""

Rules = Policy | str | Path | None


@dataclass(frozen=True, slots=True)
class Settings:
    """What a server's guard is made of.

    `store` is a URL, `""` for the default one, or `TEMPORARY`. `asks` is false where somebody else
    asks people about each call. `console` is the address where people answer, if
    there is one, and `channels` are the other ways to them. Seconds for `patience`.
    `has_principal` is whether somebody has said who calls where no token does.
    """

    policy: Rules = None
    store: str = ""
    console: str | None = None
    channels: Sequence[Channel] = ()
    patience: float = 45.0
    asks: bool = True
    announce: Callable[[str], None] = lambda _: None
    has_principal: bool = True


@dataclass(slots=True)
class Engine:
    """Opens one guard for however many connections a server has at the same time."""

    settings: Settings
    find: FindTool
    run: Callable[[Call], Any]
    _file: "PolicyFile | None" = field(init=False)
    _rules: Callable[[], Policy] = field(init=False)
    _guard: Guard | None = None
    _users: int = 0
    _stack: contextlib.AsyncExitStack = field(default_factory=contextlib.AsyncExitStack)
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    def __post_init__(self) -> None:
        self._file = _file_of(self.settings)
        self._rules = _Trusting(self._file or _given_by(self.settings), self.settings.asks)

    @property
    def policy(self) -> Policy:
        """The policy of the moment."""
        return self._rules()

    @property
    def guard(self) -> Guard:
        """The guard. Raises `UsageError` while the server does not run."""
        if self._guard is None:
            raise UsageError("this server does not run", fix="Call its tools through a client.")
        return self._guard

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[Guard]:
        """The guard, as long as somebody uses it. Raises `StoreError`, `KeysError`."""
        async with self._turn:
            if self._users == 0:
                self._guard = await self._open()
            self._users += 1
        try:
            yield self.guard
        finally:
            with anyio.CancelScope(shield=True):
                async with self._turn:
                    self._users -= 1
                    if self._users == 0:
                        self._guard = None
                        await self._stack.aclose()

    async def _open(self) -> Guard:
        settings = self.settings
        url = settings.store or None
        if url == TEMPORARY:
            folder = self._stack.enter_context(TemporaryDirectory(prefix="avow-"))
            url = f"sqlite:{folder}/avow.db"
        store = open_store(url)
        self._stack.push_async_callback(store.close)
        path = None if is_postgres(url) else store_path(url)
        keys: Keyring = load_keys(path, is_made=True)
        # Of a log that nobody keeps, nobody needs the ends.
        emit = _untold if settings.store == TEMPORARY else log_head
        holder = _Holder(store, keys, self._file, settings.announce, emit)
        audit = await holder.start(self._stack)
        return Guard(
            find_tool=self.find,
            run=self._run,
            approvals=holder.approvals,
            audit=audit,
            policy=self._rules,
            console=settings.console,
            channels=settings.channels,
            keys=keys,
            patience=settings.patience,
            announce=settings.announce,
        )

    async def _run(self, call: Call) -> Answer:
        return await self.run(call)


@dataclass(slots=True)
class _Holder:
    """Holds the log open in a task of its own.

    Connections come and go in tasks of their own, and what one task has entered no other may leave.
    """

    store: Any
    keys: Keyring
    policy: "PolicyFile | None"
    announce: Callable[[str], None]
    emit: Emit
    approvals: Approvals = field(init=False)

    def __post_init__(self) -> None:
        self.approvals = Approvals(self.store)

    async def start(self, stack: contextlib.AsyncExitStack) -> AuditLog:
        """The open log; closed when `stack` is, in whatever task that is."""
        ready: asyncio.Future[AuditLog] = asyncio.get_running_loop().create_future()
        done = asyncio.Event()
        task = asyncio.create_task(self._hold(ready, done))

        async def close() -> None:
            done.set()
            await task

        stack.push_async_callback(close)
        return await ready

    def _watching(self) -> list[Callable[[], Any]]:
        """Reading the policy again when its file changes; a mistake leaves the last good one."""
        if self.policy is None:
            return []
        return [partial(self.policy.watch, self.announce, lambda error: _log.warning("%s", error))]

    async def _hold(self, ready: Any, done: Any) -> None:
        try:
            async with (
                beside(*self._watching()),
                open_audit(self.store, self.keys, emit=self.emit) as audit,
                listening(self.approvals),
            ):
                ready.set_result(audit)
                await done.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)


@dataclass(slots=True)
class _Trusting:
    """A policy in which a server's own word counts: it is its author's, who binds it here."""

    rules: Callable[[], Policy]
    asks: bool = True
    _given: Policy | None = None
    _made: Policy = field(default_factory=Policy)

    def __call__(self) -> Policy:
        given = self.rules()
        if given is not self._given:
            self._given = given
            self._made = replace(given, asks=self.asks, trust={ANY: Trust.TRUSTED, **given.trust})
        return self._made


def _untold(_: Head) -> None:
    """Tell a chain's head to nobody."""


def _file_of(settings: Settings) -> "PolicyFile | None":
    if not isinstance(settings.policy, str | Path):
        return None
    from avow.guard import PolicyFile  # noqa: PLC0415 - a tenth of a start, for those who have a file

    return PolicyFile.open(settings.policy)


def _given_by(settings: Settings) -> Callable[[], Policy]:
    if isinstance(settings.policy, Policy):
        given = settings.policy
        return lambda: given
    # Where there is no other way to a person, and nobody has said that there must be.
    is_last = settings.console is None and not settings.channels
    policy = Policy(channels=DEFAULT_CHANNELS | {"elicitation"}) if is_last else Policy()
    return lambda: policy
