"""The servers page: each server's health, protocol and tools."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sayso.catalog import Tool
from sayso.connect import HANDSHAKE_VERSIONS, CommandTarget
from sayso.console.entry.login import Session
from sayso.console.entry.roles import Role
from sayso.console.forms import found
from sayso.console.home import HOME
from sayso.console.pages import Pages
from sayso.console.tools.inventory import seen_inventory
from sayso.errors import SaysoError
from sayso.gateway import ServerHealth, State, Upstream, held_changes
from sayso.intent import Level, Trust
from sayso.policy import Policy

_RETRY_SECONDS: Final = 5.0

_STATES: Final[Mapping[State, str]] = {
    State.UNTRIED: "not used yet",
    State.UP: "up",
    State.IDLE: "idle",
    State.FAILING: "failing",
}


_TRUSTS: Final[Mapping[Trust, str]] = {
    Trust.TRUSTED: "trusted: its declarations count",
    Trust.CAUTIOUS: "cautious: its declarations count unless something contradicts them",
    Trust.UNTRUSTED: "untrusted: only its stricter declarations count",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A server's description for the page."""

    name: str
    is_failing: bool
    state: str
    since: float
    why: str
    calls_itself: str
    version: str
    era: str
    transport: str
    where: str
    sharing: str
    trust: str
    connections: int
    restarts: int
    failures: int
    levels: Mapping[str, int]
    tools: int
    findings: int
    verified: int
    held: int
    listed_at: float | None
    stderr_tail: str


def server_routes(pages: Pages) -> list[Route]:
    """Return the routes of the page and of retrying a failed server."""
    guard = pages.gateway.guard
    upstreams = pages.gateway.upstreams

    async def show(_: Request, session: Session) -> Response:
        inventory = await seen_inventory(pages.gateway)
        held = Counter(
            change.row.server for change in await held_changes(pages.gateway.store.definitions)
        )
        servers = [
            describe(upstream, inventory.tools, guard.policy(), held[upstream.name])
            for upstream in upstreams.upstreams
        ]
        return await pages.page("servers/servers.html", session, here="servers", servers=servers)

    async def retry(_: Request, _session: Session, form: dict[str, str]) -> Response:
        named = (upstream for upstream in upstreams.upstreams if upstream.name == form.get("name"))
        failing = found(next(named, None))
        # A slower connection continues in the background, and the page shows its result later.
        with suppress(SaysoError), anyio.move_on_after(_RETRY_SECONDS):
            await failing.retry()
        return RedirectResponse(f"{HOME}/servers", 303)

    return [
        Route("/servers", pages.shown(show)),
        Route("/servers/retry", pages.posted(retry, Role.APPROVER), methods=["POST"]),
    ]


def describe(upstream: Upstream, tools: Sequence[Tool], policy: Policy, held: int) -> Server:
    """Return the description of one server for the page."""
    own = [tool for tool in tools if tool.server == upstream.name]
    health = upstream.health()
    contact = upstream.latest
    greeting = contact and contact.greeting
    levels = Counter(str(tool.level) for tool in own)
    return Server(
        name=upstream.name,
        **_health(health),
        calls_itself=_called(greeting.server) if greeting else "",
        **_reached(upstream),
        trust=_TRUSTS[policy.trust_of(upstream.name)],
        levels={str(level): levels[str(level)] for level in Level},
        tools=len(own),
        findings=sum(bool(tool.findings) for tool in own),
        verified=sum(bool(policy.verdicts(tool.receipts)) for tool in own),
        held=held,
        listed_at=upstream.listed_at,
        stderr_tail=contact.stderr_tail if contact else "",
    )


def _health(health: ServerHealth) -> dict[str, Any]:
    worst = health.worst
    version = worst.version or ""
    era = ""
    if version:
        era = "with handshake" if version in HANDSHAKE_VERSIONS else "stateless requests"
    return {
        "is_failing": health.is_failing,
        "state": _STATES[worst.state],
        "since": worst.since or time.time(),
        "why": worst.why or "",
        "version": version,
        "era": era,
        "connections": health.connections,
        "restarts": max(0, health.opened - max(1, health.connections)),
        "failures": health.failed,
    }


def _reached(upstream: Upstream) -> dict[str, Any]:
    """Describe the connection. Arguments and queries are omitted: they may contain secrets."""
    target = upstream.target
    if isinstance(target, CommandTarget):
        how = {"transport": "a program on this machine (stdio)", "where": target.command}
    else:
        how = {"transport": "streamable HTTP", "where": target.shown}
    sharing = "shared by all callers" if target.is_shared else "one per caller"
    if isinstance(target, CommandTarget) and target.contract is not None:
        sharing = f"{sharing}; held to its contract"
    return {**how, "sharing": sharing}


def _called(server: Mapping[str, Any]) -> str:
    parts = (server.get("title"), server.get("name"), server.get("version"))
    return " ".join(dict.fromkeys(text for text in parts if isinstance(text, str) and text))
