"""The gauges of a gateway: open questions, servers and their lists, sessions, the queue."""

import time
from collections.abc import Sequence

from sayso.gateway.frontends.sessions import Sessions
from sayso.gateway.upstream import Upstream
from sayso.store import Database
from sayso.telemetry import Gauge, Reading


def gauges_of(store: Database, upstreams: Sequence[Upstream], sessions: Sessions) -> list[Gauge]:
    """Return the gauges of one gateway."""

    async def waiting() -> Reading:
        return [((), await store.questions.count_pending(now=time.time()))]

    async def connections() -> Reading:
        return [((upstream.name,), upstream.health().connections) for upstream in upstreams]

    async def failing() -> Reading:
        return [((upstream.name,), float(upstream.health().is_failing)) for upstream in upstreams]

    async def entries() -> Reading:
        return [
            ((upstream.name, method), size)
            for upstream in upstreams
            for method, size in upstream.sizes.items()
        ]

    async def queued() -> Reading:
        return [((), store.queued)]

    async def live() -> Reading:
        return [((), sessions.open)]

    of_failing = "1 if a connection was lost or failed, and no new one has succeeded."
    of_entries = "Entries of a server's lists in the cache."
    open_ = "Open connections to a server."
    return [
        Gauge("sayso_approvals_waiting", "Questions that wait for a person.", waiting),
        Gauge("sayso_upstream_connections", open_, connections, ("server",)),
        Gauge("sayso_upstream_failing", of_failing, failing, ("server",)),
        Gauge("sayso_upstream_entries", of_entries, entries, ("server", "list")),
        Gauge("sayso_store_queue", "Records that wait to be written.", queued),
        Gauge("sayso_sessions", "Active sessions in this process.", live),
    ]
