"""Probes: `/healthz` reports that the process is alive, `/readyz` that it can take requests.

The host of a probe is not checked, because probes use a pod's address. So an unauthenticated probe
learns only whether the gateway is ready, and which part of it is not.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from sayso.access import Access, Names, RefusedError, RequestInfo, admit
from sayso.errors import SaysoError, StoreError
from sayso.gateway.upstream import Upstream
from sayso.guard import Shutdown
from sayso.store import Records

LIVE: Final = "/healthz"
READY: Final = "/readyz"

_OK: Final = "ok"
_STORE_SECONDS: Final = 0.75
"""The time limit of the store, less than the default timeout of a probe (1 s)."""
_FRESH_SECONDS: Final = 1.0
"""The time that a check's result is reused, so that many probes cause few queries."""

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class StoreCheck:
    """A check that the store answers in time; all probes share one query, also a hanging one."""

    records: Records
    seconds: float = _STORE_SECONDS
    _query: asyncio.Task[StoreError | None] | None = None
    _at: float = 0.0
    _was_reachable: bool = True

    async def is_reachable(self) -> bool:
        query = self._query
        now = asyncio.get_running_loop().time()
        if query is None or (query.done() and now - self._at > _FRESH_SECONDS):
            query = self._query = asyncio.create_task(self._run())
            self._at = now
        await asyncio.wait({query}, timeout=self.seconds)
        error: object = f"no answer within {self.seconds:g} s"
        if query.done():
            error = query.result()
        if (error is None) is not self._was_reachable:
            # Log only changes, not every probe.
            self._was_reachable = error is None
            _log.warning("the store: %s", error or "it can be reached again")
        return self._was_reachable

    async def _run(self) -> StoreError | None:
        try:
            await self.records.newest(limit=1)
        except StoreError as error:
            return error
        return None


@dataclass(frozen=True, slots=True)
class HealthFrontend:
    """The endpoint for probes. `policy` raises a `SaysoError` if there is no valid policy.

    `access` and `names` authenticate callers. Only authenticated callers see the servers' states.
    """

    shutdown: Shutdown
    check: StoreCheck
    policy: Callable[[], object]
    upstreams: Sequence[Upstream]
    access: Access
    names: Names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        if scope["method"] not in ("GET", "HEAD"):
            error = {"error": "A probe must be a GET."}
            await _send(send, HTTPStatus.METHOD_NOT_ALLOWED, error, (b"allow", b"GET, HEAD"))
        elif scope["path"] == LIVE:
            await _send(send, HTTPStatus.OK, {"live": True})
        else:
            # A proxy that probes will stop sending requests, so the shutdown can wait for that.
            self.shutdown.is_watched = True
            parts: dict[str, Any] = await self._parts()
            is_ready = all(state == _OK for state in parts.values())
            if await self._may_know(RequestInfo.of(scope)):
                parts["upstreams"] = self._states()
            status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
            await _send(send, status, {"ready": is_ready, **parts})

    async def _parts(self) -> dict[str, Any]:
        return {
            "store": _OK if await self.check.is_reachable() else "cannot be reached",
            "policy": _OK if self._has_policy() else "cannot be used",
            "gateway": "draining" if self.shutdown.is_near else _OK,
        }

    def _has_policy(self) -> bool:
        try:
            self.policy()
        except SaysoError as error:
            _log.warning("not ready: %s", error)
            return False
        return True

    def _states(self) -> dict[str, str]:
        """Return the state of each server; the gateway is ready even if a server is down."""
        words = {True: "up", False: "down", None: "not yet wanted"}
        return {upstream.name: words[upstream.is_up] for upstream in self.upstreams}

    async def _may_know(self, request: RequestInfo) -> bool:
        """Return whether a probe has a token or API key; a local address may be a proxy's."""
        try:
            principal = await admit(request, self.access, self.names)
        except (RefusedError, StoreError):
            return False
        return principal.is_known


async def _send(
    send: Send, status: int, document: Mapping[str, Any], *more: tuple[bytes, bytes]
) -> None:
    body = json.dumps(document).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
