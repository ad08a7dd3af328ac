"""The observer of the seeded web site. A request such as POST is an effect; a GET is not."""

from collections.abc import Sequence

from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.inputs.world.web import Request, Site
from sayso.verify.judge.refutations import SAFE_METHODS


def changes(requests: Sequence[Request]) -> list[str]:
    """Return method and path of each request that may change something (RFC 9110, 9.2.1)."""
    lines = [f"{request.method} {request.path}" for request in requests]
    return [line for line in lines if not line.startswith(SAFE_METHODS)]


class SeededWebWatcher:
    """A `Watcher` of the requests to the seeded web site."""

    layer = Layer("site", is_active=True, detail="a web site on loopback that records requests")

    def __init__(self, site: Site) -> None:
        self._site = site
        self._seen = len(site.requests)

    async def begin(self) -> None:
        """Skip requests from before the call."""
        self._seen = len(self._site.requests)

    async def end(self, call: int) -> Sequence[Effect]:
        """Return an effect for each request since `begin` that may change something."""
        requests = self._site.requests[self._seen :]
        self._seen += len(requests)
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
            for line in changes(requests)
        ]
