"""Verification of a server behind a URL, by its results and the operator's probe only."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio

from sayso.connect import UrlTarget
from sayso.errors import UnreachableError
from sayso.sandbox import Layer
from sayso.trace import Effect, Life
from sayso.verify.call import MadeCall
from sayso.verify.confirm import NOT_REPRODUCED, Shrink
from sayso.verify.environment import COMPARED_OUTPUT, no_containment
from sayso.verify.event import Ended
from sayso.verify.grader import Grader
from sayso.verify.inputs.hints import read_hints
from sayso.verify.inputs.world import make_world, serve_world
from sayso.verify.judge import Confirmed, ToolEvidence
from sayso.verify.judge.judge import effects_against
from sayso.verify.observe.probe import ProbeWatcher
from sayso.verify.observed_server import ObservedServer, Watcher, start_server, wait
from sayso.verify.options import Terms
from sayso.verify.session import Session, Tell
from sayso.verify.suspicion import Suspicion
from sayso.verify.verdict import Report

LIMIT: Final = "the server runs behind a URL; only its answers and the probe's output are observed"
RESTLESS: Final = "the probed state also changes without a call"


async def verify_remote(terms: Terms, target: UrlTarget, tell: Tell) -> Report:
    """Call the tools of a server behind a URL and return the report.

    By default only tools declared read-only are called. Raises what `verify` raises, and
    `UsageError` if the probe fails.
    """
    started = time.perf_counter()
    hints = read_hints(terms.hints)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="sayso-verify-")))
        world = await anyio.to_thread.run_sync(make_world, folder / "world")
        site = stack.enter_context(serve_world())
        remote = RemoteEnvironment(terms, target)
        session = Session(terms, tell, remote, hints=hints, world=world.with_site(site))
        report = await session.run()
    report = replace(report, seconds=time.perf_counter() - started)
    tell(Ended(report))
    return report


@dataclass(slots=True)
class RemoteEnvironment:
    """An `Environment` behind a URL, without containment and without fresh state."""

    terms: Terms
    target: UrlTarget
    holding: tuple[Layer, ...] = no_containment("the server runs elsewhere")
    observing: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = (
        "the server ran without containment; its effects elsewhere are unseen",
    )
    limit: str = LIMIT
    has_fresh_state: bool = False
    grader: Grader | None = None
    _turn: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def is_safe(self) -> bool:
        """Return whether to call tools that may write."""
        return self.terms.calls_writes

    @asynccontextmanager
    async def start(self, *, number: int = 0) -> AsyncGenerator[ObservedServer]:
        """Connect to the server, once nobody else is. Raises the errors of the connection."""
        watchers: list[Watcher] = []
        probing = Layer("probe", is_active=False, detail="no --probe was given")
        if self.terms.probe:
            watchers.append(ProbeWatcher(self.terms.probe, timeout=self.terms.timeout))
            probing = watchers[0].layer
        self.observing = (COMPARED_OUTPUT, probing)
        opened = start_server(
            self.target,
            watchers=watchers,
            rest=wait,
            grade=_grade,
            timeout=self.terms.timeout,
            number=number,
        )
        async with self._turn, opened as server:
            yield server

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | str:
        """Make the same call again. Watch the state before and after it, without a call.

        The state is not fresh. Smaller arguments are not tried, since each call may change the
        user's data.
        """
        del shrink
        try:
            made = await self._once_more(suspicion.made)
        except UnreachableError:
            return NOT_REPRODUCED
        if made is None:
            return RESTLESS
        effects = effects_against(suspicion.name, made, evidence.profile)
        return Confirmed(tuple(effects), made.case.arguments) if effects else NOT_REPRODUCED

    async def _once_more(self, made: MadeCall) -> MadeCall | None:
        async with self.start(number=made.number) as server:
            if await server.idle():
                return None
            again = await server.call(made.tool, made.case)
            return None if await server.idle() else again


def _grade(
    effects: Sequence[Effect], name: str, arguments: Any, *, control: Sequence[Effect]
) -> tuple[Effect, ...]:
    """Return the probe's effects. If the state also changes without a call, they get `Life.OWN`."""
    del name, arguments
    if not control:
        return tuple(effects)
    return tuple(replace(effect, life=Life.OWN, reason=RESTLESS) for effect in effects)
