"""Messages of a running gateway: to a person, to a program that reads results, or to a log."""

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import anyio

from sayso.cli.address import Options
from sayso.cli.terminal import plain, plural, print_error, print_error_json, say
from sayso.connect import is_loopback
from sayso.errors import SaysoError
from sayso.store import is_postgres, store_path
from sayso.telemetry import is_structured

if TYPE_CHECKING:
    from sayso.cli.workers import Worker
    from sayso.gateway import Gateway, Upstream

_START_SECONDS: Final = 5.0
"""How long the first list of a server is waited for before the gateway opens without it."""

_log: Final = logging.getLogger("sayso")


@dataclass(frozen=True, slots=True)
class Voice:
    """How things are said: what goes on, and what went wrong."""

    tell: Callable[[str], None]
    fail: Callable[[SaysoError], None]


SILENT: Final = Voice(lambda _: None, lambda _: None)
"""Of one of several processes: another one says it."""


def voice_of(*, is_json: bool) -> Voice:
    """Return the voice that was asked for; a structured log gets all of it."""
    if is_structured():
        return Voice(_log.info, log_error)
    if is_json:
        return Voice(SILENT.tell, print_error_json)
    return Voice(lambda text: say(plain(text)), print_error)


def voice_for(options: Options, worker: "Worker | None") -> Voice:
    """Return the voice of this process; of several workers one speaks for all."""
    if worker is not None and not worker.speaks:
        return SILENT
    return voice_of(is_json=options.is_json)


def log_error(error: SaysoError) -> None:
    """Log an error."""
    _log.error("%s", error, extra={"error": error.to_dict()["error"]})


async def check_servers(gateway: "Gateway", voice: Voice) -> None:
    """List the tools of every server, waiting a while for slow ones; raise if none answers."""
    errors: list[SaysoError] = []
    servers = [
        upstream for upstream in gateway.upstreams.upstreams if _is_on(gateway, upstream, voice)
    ]
    asked = [upstream for upstream in servers if not upstream.is_for_callers]
    waiting = {upstream.name for upstream in asked}

    async def ask(upstream: "Upstream") -> None:
        try:
            tools, _ = await upstream.tools()
        except SaysoError as error:
            errors.append(error)
        else:
            voice.tell(f"{upstream.name}: {len(tools)} {plural(len(tools), 'tool')}")
        waiting.discard(upstream.name)

    with anyio.move_on_after(_START_SECONDS):
        async with anyio.create_task_group() as group:
            for upstream in asked:
                group.start_soon(ask, upstream)
    if errors and len(errors) == len(servers):
        raise errors[0]
    for error in errors:
        voice.fail(error)
    for upstream in servers:
        if upstream.is_for_callers:
            voice.tell(
                f"{upstream.name}: its tools are listed for each caller, with their own token"
            )
    for name in sorted(waiting):
        voice.tell(f"{name}: still starting; its tools are listed as soon as it answers")


def _is_on(gateway: "Gateway", upstream: "Upstream", voice: Voice) -> bool:
    is_on = gateway.upstreams.switches.has_server(upstream.name)
    if not is_on:
        voice.tell(f"{upstream.name}: switched off by the policy")
    return is_on


def print_addresses(base: str, link: str | None, options: Options, voice: Voice) -> None:
    """Say where the gateway is. Only a person who started it by hand is given a link.

    Standard error of a gateway that a client has started belongs to that client, whose calls the
    person at the console answers; and where people have accounts, a link would need none.
    """
    from sayso.gateway import PATH

    console = f"{base}/console/"
    if options.principal is not None:
        voice.tell(f"The console is at {console}. To log in, run sayso console in a terminal.")
        return
    if options.is_json:
        addresses = {"schema": 1, "mcp": f"{base}{PATH}", "console": link or console}
        sys.stdout.write(json.dumps(addresses) + "\n")
    else:
        sys.stdout.write(f"{link or console}\n")
        _tell_how_to_enter(base, link, voice)
        voice.tell(f"MCP clients connect to {base}{PATH}. Ctrl-C ends sayso.")
        if not is_postgres(options.store):
            voice.tell(f"The record is kept in {store_path(options.store)}.")
    sys.stdout.flush()


def _tell_how_to_enter(base: str, link: str | None, voice: Voice) -> None:
    if link is None:
        voice.tell("People log in there with their account.")
        return
    voice.tell("Open this link to see the tools and to answer for calls; it works once.")
    if is_loopback(urlsplit(base).hostname or ""):
        voice.tell("It opens on this machine only. Run sayso console for another link.")
