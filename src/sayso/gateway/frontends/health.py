"""Probes: `/healthz` says that the process lives, and `/readyz` whether to send requests to it.

Answered before the host is checked: a probe calls a pod by its address. So strangers learn only
whether the gateway is ready, and which part of it is not.
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
"""How long the store may take to answer: below the second that a probe waits by default."""
_FRESH_SECONDS: Final = 1.0
"""How long what the store said is taken as it was, so that probes by many cost it nothing."""

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class StoreCheck:
    """Whether the store answers in time: one query for all probes, also while one hangs."""

    records: Records
    seconds: float = _STORE_SECONDS
    _asked: asyncio.Task[StoreError | None] | None = None
    _at: float = 0.0
    _was_there: bool = True

    async def is_there(self) -> bool:
        asked = self._asked
        now = asyncio.get_running_loop().time()
        if asked is None or (asked.done() and now - self._at > _FRESH_SECONDS):
            asked = self._asked = asyncio.create_task(self._ask())
            self._at = now
        await asyncio.wait({asked}, timeout=self.seconds)
        why: object = f"no answer within {self.seconds:g} s"
        if asked.done():
            why = asked.result()
        if (why is None) is not self._was_there:
            # Logged once, not with every probe.
            self._was_there = why is None
            _log.warning("the store: %s", why or "it can be reached again")
        return self._was_there

    async def _ask(self) -> StoreError | None:
        try:
            await self.records.newest(limit=1)
        except StoreError as error:
            return error
        return None


@dataclass(frozen=True, slots=True)
class HealthFrontend:
    """Answers probes. `policy` raises a `SaysoError` if there is none.

    `access` and `names` decide who may see the servers behind: callers who prove who they are.
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
            told = {"error": "A probe is a GET."}
            await _say(send, HTTPStatus.METHOD_NOT_ALLOWED, told, (b"allow", b"GET, HEAD"))
        elif scope["path"] == LIVE:
            await _say(send, HTTPStatus.OK, {"live": True})
        else:
            # A proxy that probes sends no requests on once it gets a no: the end can wait for that.
            self.shutdown.is_watched = True
            told: dict[str, Any] = await self._parts()
            is_ready = all(state == _OK for state in told.values())
            if await self._may_know(RequestInfo.of(scope)):
                told["upstreams"] = self._states()
            status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
            await _say(send, status, {"ready": is_ready, **told})

    async def _parts(self) -> dict[str, Any]:
        return {
            "store": _OK if await self.check.is_there() else "cannot be reached",
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
        """Return the state of each server; one that is down leaves the gateway ready."""
        words = {True: "up", False: "down", None: "not yet wanted"}
        return {upstream.name: words[upstream.is_up] for upstream in self.upstreams}

    async def _may_know(self, request: RequestInfo) -> bool:
        """Return whether a probe has a token or an API key; to be local is not enough (proxies)."""
        try:
            principal = await admit(request, self.access, self.names)
        except (RefusedError, StoreError):
            return False
        return principal.is_known


async def _say(
    send: Send, status: int, told: Mapping[str, Any], *more: tuple[bytes, bytes]
) -> None:
    body = json.dumps(told).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
