"""The tools of all servers, resolved under the current policy."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from sayso.catalog import Tool, make_catalog
from sayso.errors import SaysoError
from sayso.gateway import Gateway
from sayso.schema import digest

PATIENCE: Final = 3.0
"""Seconds that a page waits for servers; slower ones appear on a later page load."""

_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
_KEY_LENGTH: Final = 32


class Lister(Protocol):
    """A server that lists its tools."""

    @property
    def name(self) -> str: ...

    async def tools(self) -> tuple[list[Tool], list[str]]:
        """Return the server's tools, and the problems in its list. Raises `SaysoError`."""
        ...


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tools, and the problems of servers. `is_partial` is true if a server has not answered."""

    tools: tuple[Tool, ...]
    problems: tuple[str, ...]
    is_partial: bool = False


async def take_inventory(upstreams: Sequence[Lister], patience: float = PATIENCE) -> Inventory:
    """Return all servers' tools, listed concurrently. A failed or slow server affects no other."""
    answers: list[tuple[list[Tool], list[str]]] = [
        ([], [f"{upstream.name}: no answer yet. Its tools are listed as soon as it answers."])
        for upstream in upstreams
    ]

    async def ask(index: int) -> None:
        try:
            answers[index] = await upstreams[index].tools()
        except SaysoError as error:
            answers[index] = ([], [str(error)])

    with anyio.move_on_after(patience) as wait:
        async with anyio.create_task_group() as group:
            for index in range(len(upstreams)):
                group.start_soon(ask, index)
    catalog = make_catalog(
        (tool for tools, _ in answers for tool in tools),
        (problem for _, problems in answers for problem in problems),
    )
    return Inventory(tuple(catalog.tools.values()), catalog.problems, wait.cancelled_caught)


async def seen_inventory(gateway: Gateway) -> Inventory:
    """Return the tools of all servers, resolved under the current policy."""
    inventory = await take_inventory(gateway.upstreams.upstreams)
    policy = gateway.guard.policy()
    sight = gateway.guard.sight
    seen = tuple(sight.of(policy, tool)[0] for tool in inventory.tools)
    return Inventory(seen, inventory.problems, inventory.is_partial)


def key_of(qualified_name: str) -> str:
    """Return a tool's key in URLs: its name, or a digest of a name with special characters.

    >>> key_of("crm__customers_list")
    'crm__customers_list'
    >>> key_of("crm__<b>")[:5]
    '=8836'
    """
    if _PLAIN_NAME.fullmatch(qualified_name):
        return qualified_name
    return f"={digest(qualified_name.encode(errors='replace').decode())[:_KEY_LENGTH]}"


def find_tool(inventory: Inventory, key: str) -> Tool | None:
    """Return the tool with this key; `None` if there is no such tool."""
    return next((tool for tool in inventory.tools if key_of(tool.qualified_name) == key), None)
