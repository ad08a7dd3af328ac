"""Warnings about parts of the policy that match no server or tool."""

import logging
from typing import Final

import anyio

from sayso.gateway.app import Gateway
from sayso.policy import facts_of, unmatched, without_dry_run

_LOOK_SECONDS: Final = 5.0

_log: Final = logging.getLogger(__name__)


def find_unmatched(gateway: Gateway) -> list[str]:
    """Return a sentence for each part of the policy that matches no known tool.

    Servers are not contacted; nothing is reported about a server that has not listed its tools.
    """
    policy = gateway.guard.policy()
    sight = gateway.guard.sight
    lists = {upstream.name: upstream.remembered for upstream in gateway.upstreams.upstreams}
    unknown = [name for name, tools in lists.items() if tools is None]
    known = [tool for tools in lists.values() for tool in tools or ()]
    facts = [facts_of(sight.of(policy, tool)[0]) for tool in known]
    sentences = unmatched(policy, facts, servers=lists, unknown=unknown)
    return [*sentences, *without_dry_run(policy, known)]


async def warn_of_unmatched(gateway: Gateway, *, seconds: float = _LOOK_SECONDS) -> None:
    """Log each warning of `find_unmatched` once; check again repeatedly until cancelled."""
    logged: set[str] = set()
    while True:
        for sentence in find_unmatched(gateway):
            if sentence not in logged:
                logged.add(sentence)
                _log.warning("%s", sentence)
        await anyio.sleep(seconds)
