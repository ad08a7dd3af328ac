"""The start of a gateway's servers, reported while the gateway already serves."""

from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.beside import beside
from sayso.cli.drain import DrainedServer
from sayso.cli.output import Reporter
from sayso.cli.terminal import plural
from sayso.cli.workers import Worker
from sayso.errors import SaysoError
from sayso.gateway import Gateway, Upstream
from sayso.service import notify_ready

_START_SECONDS: Final = 5.0
"""The time in which the gateway ends if all servers fail."""


@dataclass(slots=True)
class ServerStart:
    """The first contact with each server; `worker` is this process, if it is one of several."""

    gateway: Gateway
    reporter: Reporter
    server: DrainedServer
    worker: Worker | None
    _waiting: set[str] = field(default_factory=set[str])
    _is_decided: bool = False
    _failure: SaysoError | None = None

    @property
    def is_first(self) -> bool:
        """True in the process that prints the addresses, and ends if all servers fail."""
        return self.worker is None or (self.worker.speaks and self.worker.is_first)

    async def report(self) -> None:
        """Report each server when it has listed its tools, or has failed.

        If all servers fail within the start time, begins a shutdown; `check` then raises the last
        error, which is not reported.
        """
        asked = self._asked()
        self._waiting.update(upstream.name for upstream in asked)
        async with beside(self._report_late), anyio.create_task_group() as group:
            for upstream in asked:
                group.start_soon(self._ask, upstream)

    def check(self) -> None:
        """Raise the error because of which the gateway ended, if it did."""
        if self._failure is not None:
            raise self._failure

    def _asked(self) -> list[Upstream]:
        """Return the servers that sayso itself may ask; report the others."""
        upstreams = self.gateway.upstreams.upstreams
        is_on = self.gateway.upstreams.switches.has_server
        asked: list[Upstream] = []
        for upstream in upstreams:
            if not is_on(upstream.name):
                self.reporter.tell(f"{upstream.name}: switched off by the policy")
            elif upstream.is_for_callers:
                what = "its tools are listed per caller, with the caller's token"
                self.reporter.tell(f"{upstream.name}: {what}")
                self._go_on()
            else:
                asked.append(upstream)
        if not asked:
            self._go_on()
        return asked

    async def _ask(self, upstream: Upstream) -> None:
        try:
            tools, _ = await upstream.tools()
        except SaysoError as error:
            self._waiting.discard(upstream.name)
            if self._waiting or self._is_decided or not self.is_first:
                self.reporter.fail(error)
            else:
                self._failure = error
                self.server.stop()
        else:
            self._waiting.discard(upstream.name)
            count = f"{len(tools)} {plural(len(tools), 'tool')}"
            self.reporter.tell(f"{upstream.name}: connected, {count}")
            self._go_on()

    async def _report_late(self) -> None:
        await anyio.sleep(_START_SECONDS)
        for name in sorted(self._waiting):
            self.reporter.tell(f"{name}: still starting; its tools appear when it responds")
        self._go_on()

    def _go_on(self) -> None:
        """Keep serving, whatever fails from now on, and report so to the parent or to systemd."""
        if not self._is_decided:
            self._is_decided = True
            if self.worker is None:
                notify_ready()
            else:
                self.worker.serves()
