"""A server behind a URL: it is not contained, and little of what it does is seen from here.

What is seen is its answers, and its state as far as the operator's own probe tells it.
"""

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
from sayso.sandbox import CONTAINING, Layer
from sayso.trace import Effect, Life
from sayso.verify.call import MadeCall
from sayso.verify.confirm import UNSEEN_AGAIN, Shrink, Suspicion
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
from sayso.verify.verdict import Report

LIMIT: Final = "it runs behind a URL, where only its answers and the probe's output are seen"
RESTLESS: Final = "the state that the probe tells changes without a call too"

_ELSEWHERE: Final = "the server runs elsewhere"
_NO_PROBE: Final = "no --probe was given"


async def verify_remote(terms: Terms, target: UrlTarget, tell: Tell) -> Report:
    """Call the tools of a server behind a URL, and give what was found.

    Nothing is contained. Unless the terms say otherwise only tools that their server declares as
    read-only are called. Raises what `verify` raises, and `UsageError` where the probe fails.
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


def _holding() -> tuple[Layer, ...]:
    return tuple(Layer(name, is_active=False, detail=_ELSEWHERE) for name in sorted(CONTAINING))


@dataclass(slots=True)
class RemoteEnvironment:
    """A server behind a URL; a `Environment` without any containment, whose state stays."""

    terms: Terms
    target: UrlTarget
    holding: tuple[Layer, ...] = field(default_factory=_holding)
    observing: tuple[Layer, ...] = ()
    notes: tuple[str, ...] = ("nothing contained the server, and what it does to others is unseen",)
    limit: str = LIMIT
    has_fresh_state: bool = False
    grader: Grader | None = None

    @property
    def is_safe(self) -> bool:
        """Whether it was asked for that tools which may write are called too."""
        return self.terms.calls_writes

    @asynccontextmanager
    async def start(self, *, number: int = 0) -> AsyncGenerator[ObservedServer]:
        """Connect to it. Raises what connecting raises."""
        watchers: list[Watcher] = []
        if self.terms.probe:
            watchers.append(ProbeWatcher(self.terms.probe, timeout=self.terms.timeout))
        probing = tuple(watcher.layer for watcher in watchers)
        output = Layer("output", is_active=True, detail="two calls with the same arguments")
        none = Layer("probe", is_active=False, detail=_NO_PROBE)
        self.observing = (output, *(probing or (none,)))
        async with start_server(
            self.target,
            watchers=watchers,
            rest=wait,
            grade=_grade,
            timeout=self.terms.timeout,
            number=number,
        ) as stage:
            yield stage

    async def confirm(
        self, suspicion: Suspicion, evidence: ToolEvidence, shrink: Shrink
    ) -> Confirmed | str:
        """Make the same call again, with a look before and after it while nobody calls.

        There is no fresh state here, and no smaller arguments are tried: each call may change
        something that is kept.
        """
        del shrink
        try:
            made = await self._once_more(suspicion.made)
        except UnreachableError:
            return UNSEEN_AGAIN
        if made is None:
            return RESTLESS
        found = effects_against(suspicion.name, made, evidence.profile)
        if not found:
            return UNSEEN_AGAIN
        return Confirmed(tuple(found), made.case.arguments)

    async def _once_more(self, made: MadeCall) -> MadeCall | None:
        """The same call again; `None` where the state changes before or after it by itself."""
        async with self.start(number=made.number) as stage:
            if await stage.idle():
                return None
            again = await stage.call(made.tool, made.case)
            if await stage.idle():
                return None
            return again


def _grade(
    effects: Sequence[Effect], name: str, arguments: Any, *, control: Sequence[Effect]
) -> tuple[Effect, ...]:
    """What the probe tells is what somebody keeps, unless it changes without a call as well."""
    del name, arguments
    if not control:
        return tuple(effects)
    return tuple(replace(effect, life=Life.OWN, reason=RESTLESS) for effect in effects)
