"""An environment that starts the server in a fresh, observed sandbox each time."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from sayso.connect import CommandTarget
from sayso.sandbox import Box, Layer, SandboxSpec, open_box, private_folder
from sayso.verify.confirm import Shrink, confirm
from sayso.verify.control import FirstCalls
from sayso.verify.grade.context import CallContext
from sayso.verify.grader import Grader
from sayso.verify.inputs.world.web import Site
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.observe.files import FilesWatcher
from sayso.verify.observe.seeded_web import SeededWebWatcher, changes
from sayso.verify.observe.sqlite import SqliteWatcher
from sayso.verify.observe.syscalls import SyscallWatcher
from sayso.verify.observed_server import IdleWait, ObservedServer, Watcher, start_server, wait
from sayso.verify.options import Terms
from sayso.verify.suspicion import Cleared, Suspicion

if TYPE_CHECKING:
    from sayso.verify.database import Postgres


_AT_ONCE: Final = 2


@dataclass(slots=True)
class ContainedEnvironment:
    """An `Environment` of sandboxes.

    `holding` and `observing` are the layers of the latest sandbox that confine and observe.
    """

    terms: Terms
    spec: SandboxSpec
    layers: Sequence[Layer]
    site: Site | None = None
    postgres: "Postgres | None" = None
    holding: tuple[Layer, ...] = ()
    observing: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = ()
    limit: str = ""
    has_fresh_state: bool = True
    is_safe: bool = True
    grader: Grader = field(default_factory=Grader)
    _first_calls: FirstCalls = field(init=False)
    _boxes: anyio.CapacityLimiter = field(init=False)

    def __post_init__(self) -> None:
        self.grader.cwd = self.spec.cwd
        self._first_calls = FirstCalls(self.start)
        self._boxes = anyio.CapacityLimiter(1)

    def _most(self) -> int:
        """Return 2, or 1 where two servers would share what is watched: a database, the site."""
        has_changes = self.site is not None and changes(self.site.requests)
        return 1 if self.postgres is not None or has_changes else _AT_ONCE

    @asynccontextmanager
    async def start(self, *, number: int = 0) -> AsyncGenerator[ObservedServer]:
        """Start the server in a fresh sandbox, and remove the sandbox at the end.

        Raises the error if the server cannot start. Call numbers follow `number`.
        """
        self._boxes.total_tokens = self._most()
        async with self._boxes, AsyncExitStack() as stack:
            watched: list[Watcher] = []
            if self.postgres is not None:
                watched.append(await stack.enter_async_context(self.postgres.fresh()))
            box = await stack.enter_async_context(open_box(self.spec, self.layers))
            folder = await stack.enter_async_context(private_folder("seen"))
            watchers, rest = _watch(box, folder, self.site)
            watchers += watched
            target = CommandTarget(
                self.terms.target.name, box.command[0], box.command[1:], box.env, box.cwd
            )
            context = CallContext(
                box.places,
                "",
                allowed=frozenset(self.spec.allowed),
                argument_paths=frozenset(word for word in box.server[1:] if word.startswith("/")),
            )
            server = await stack.enter_async_context(
                start_server(
                    target,
                    watchers=watchers,
                    rest=rest,
                    grade=partial(self.grader.grade, context),
                    timeout=self.terms.timeout,
                    number=number,
                    host=context.host,
                )
            )
            self.holding = tuple(layer for layer in box.layers if layer.name != "syscalls")
            untraced = [
                layer for layer in box.layers if layer.name == "syscalls" and box.trace is None
            ]
            self.observing = (*untraced, *(watcher.layer for watcher in watchers))
            self.grader.readers = frozenset(
                tool.name for tool in server.tools if tool.intent.hints.read_only
            )
            self.notes = tuple(dict.fromkeys((*box.notes, *self.notes)))
            try:
                yield server
            finally:
                self.notes = tuple(dict.fromkeys((*self.notes, *box.overruns)))

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | Cleared | str:
        return await confirm(suspicion, evidence, self._first_calls, shrink)


def _watch(box: Box, folder: Path, site: Site | None) -> tuple[list[Watcher], IdleWait]:
    watchers: list[Watcher] = [FilesWatcher(box.places, folder), SqliteWatcher(box.places, folder)]
    if site is not None:
        watchers.append(SeededWebWatcher(site))
    if box.trace is None:
        return watchers, wait
    syscalls = SyscallWatcher(box.trace, box.places)
    return [syscalls, *watchers], syscalls.wait_idle
