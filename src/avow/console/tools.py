"""The tools page: every tool of every server, what it may do, and who says so."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from avow.catalog import Tool, make_catalog
from avow.console.login import Session
from avow.console.pages import Pages
from avow.console.queue import load_queue
from avow.errors import AvowError
from avow.gateway.upstream import Upstream

PATIENCE: Final = 3.0
"""Seconds that the page waits for servers; one that is still starting shows on the next look."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The tools that were found, and what is wrong with servers and with entries of their lists."""

    tools: tuple[Tool, ...]
    problems: tuple[str, ...]


def tool_routes(pages: Pages) -> list[Route]:
    """The one page."""

    async def show(request: Request, session: Session) -> Response:
        inventory = await take_inventory(pages.gateway.fleet.upstreams)
        query = request.query_params.get("q", "").strip()[:200]
        guard = pages.gateway.guard
        seen = [guard.sight.of(guard.policy(), tool)[0] for tool in inventory.tools]
        found = [tool for tool in seen if matches(tool, query)]
        queue = await load_queue(guard)
        return pages.page(
            "tools.html",
            session,
            queue,
            here="tools",
            inventory=inventory,
            found=found,
            query=query,
        )

    return [Route("/tools", pages.shown(show))]


async def take_inventory(upstreams: Sequence[Upstream], patience: float = PATIENCE) -> Inventory:
    """Ask all servers at once; one that fails or does not answer in time leaves the others."""
    answers: list[tuple[list[Tool], list[str]]] = [
        ([], [f"{one.name}: no answer yet. Reload this page in a moment."]) for one in upstreams
    ]

    async def ask(index: int) -> None:
        try:
            answers[index] = await upstreams[index].tools()
        except AvowError as error:
            answers[index] = ([], [str(error)])

    with anyio.move_on_after(patience):
        async with anyio.create_task_group() as group:
            for index in range(len(upstreams)):
                group.start_soon(ask, index)
    catalog = make_catalog(
        (tool for tools, _ in answers for tool in tools),
        (problem for _, problems in answers for problem in problems),
    )
    return Inventory(tuple(catalog.tools.values()), catalog.problems)


def matches(tool: Tool, query: str) -> bool:
    """Whether every word of `query` stands in the tool's title, names, level or description."""
    description = str(tool.raw.get("description") or "")
    text = f"{tool.title} {tool.name} {tool.server} {tool.level} {description}".lower()
    return all(word in text for word in query.lower().split())
