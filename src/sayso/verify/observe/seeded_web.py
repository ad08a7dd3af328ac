"""Watches the web of the seeded world: a request that changes something there is an effect."""

from collections.abc import Sequence

from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.inputs.world.web import Site
from sayso.verify.judge.refutations import SAFE_METHODS


class SeededWebWatcher:
    """A `Watcher` of what was asked of a site."""

    layer = Layer("site", is_active=True, detail="a web on loopback, which records what is asked")

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen = len(site.requests)

    async def begin(self) -> None:
        """What was asked before belongs to no new call."""
        self._seen = len(self._site.requests)

    async def end(self, call: int) -> Sequence[Effect]:
        """The requests since then that are not safe (RFC 9110, 9.2.1)."""
        asked = self._site.requests[self._seen :]
        self._seen += len(asked)
        lines = [f"{request.method} {request.path}" for request in asked]
        return [
            Effect(
                Kind.SEND,
                self._site.address,
                Observer.PROBE,
                call,
                line,
                life=Life.EXTERNAL,
                reason="a request that asks for a change",
            )
            for line in lines
            if not line.startswith(SAFE_METHODS)
        ]
