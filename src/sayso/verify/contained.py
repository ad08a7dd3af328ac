"""An environment that starts the server in a fresh, observed sandbox each time."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.connect import CommandTarget
from sayso.sandbox import Box, Layer, SandboxSpec, open_box, private_folder
from sayso.verify.confirm import Shrink, confirm
from sayso.verify.grade.context import CallContext
from sayso.verify.grader import Grader
from sayso.verify.inputs.world.web import Site
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.observe.files import FilesWatcher
from sayso.verify.observe.seeded_web import SeededWebWatcher
from sayso.verify.observe.sqlite import SqliteWatcher
from sayso.verify.observe.syscalls import SyscallWatcher
from sayso.verify.observed_server import IdleWait, ObservedServer, Watcher, start_server, wait
from sayso.verify.options import Terms
from sayso.verify.suspicion import Cleared, Suspicion

if TYPE_CHECKING:
    from sayso.verify.database import Postgres


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

    def __post_init__(self) -> None:
        self.grader.cwd = self.spec.cwd

    @asynccontextmanager
    async def start(self, *, number: int = 0) -> AsyncGenerator[ObservedServer]:
        """Start the server in a fresh sandbox, and remove the sandbox at the end.

        Raises the error if the server cannot start. Call numbers follow `number`.
        """
        async with AsyncExitStack() as stack:
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
            self.grader.context = CallContext(
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
                    grade=self.grader.grade,
                    timeout=self.terms.timeout,
                    number=number,
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
        return await confirm(suspicion, evidence, self.start, shrink, self._host)

    def _host(self, path: str) -> Path | None:
        return self.grader.context.host(path)


def _watch(box: Box, folder: Path, site: Site | None) -> tuple[list[Watcher], IdleWait]:
    watchers: list[Watcher] = [FilesWatcher(box.places, folder), SqliteWatcher(box.places, folder)]
    if site is not None:
        watchers.append(SeededWebWatcher(site))
    if box.trace is None:
        return watchers, wait
    syscalls = SyscallWatcher(box.trace, box.places)
    return [syscalls, *watchers], syscalls.wait_idle
