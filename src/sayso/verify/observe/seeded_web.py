"""The observer of the seeded web site: a request for a change is an effect."""

from collections.abc import Sequence

from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.inputs.world.web import Site
from sayso.verify.judge.refutations import SAFE_METHODS


class SeededWebWatcher:
    """A `Watcher` of requests to the site."""

    layer = Layer("site", is_active=True, detail="a web site on loopback that records requests")

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen = len(site.requests)

    async def begin(self) -> None:
        """Skip requests from before the call."""
        self._seen = len(self._site.requests)

    async def end(self, call: int) -> Sequence[Effect]:
        """Return the requests since then that are not safe (RFC 9110, 9.2.1)."""
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
                reason="a request for a change",
            )
            for line in lines
            if not line.startswith(SAFE_METHODS)
        ]
