"""The tools page: the list of all tools, and each tool's page."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.catalog import Tool
from sayso.console.entry.login import Session
from sayso.console.forms import found
from sayso.console.home import HOME
from sayso.console.pages import Pages
from sayso.console.text import reveal
from sayso.console.tools.evidence import evidence_rows
from sayso.console.tools.fields import fields_of, flat
from sayso.console.tools.filters import FINDINGS, SOURCES, Filters, choose, hint_choices
from sayso.console.tools.inventory import find_tool, seen_inventory
from sayso.gateway import held_changes


def tool_routes(pages: Pages) -> list[Route]:
    """Return the routes of the list and of one tool."""
    views = _Views(pages)
    return [Route("/tools", pages.shown(views.all)), Route("/tools/{key}", pages.shown(views.one))]


class _Views:
    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def all(self, request: Request, session: Session) -> Response:
        inventory = await seen_inventory(self._pages.gateway)
        filters = Filters.of(request.query_params)
        values: dict[str, Any] = {
            "inventory": inventory,
            "filters": filters,
            "found": choose(inventory.tools, filters),
        }
        if request.headers.get("hx-request") == "true":
            part = self._pages.render("tools/found.html", **values)
            part.headers["HX-Replace-Url"] = f"{HOME}/tools{filters.query}"
            return part
        store = self._pages.gateway.store
        return await self._pages.page(
            "tools/tools.html",
            session,
            here="tools",
            held=len(await held_changes(store.definitions)),
            quarantined=len(await store.quarantines.all()),
            choices=_choices(inventory.tools),
            **values,
        )

    async def one(self, request: Request, session: Session) -> Response:
        inventory = await seen_inventory(self._pages.gateway)
        tool = found(find_tool(inventory, request.path_params["key"]))
        return await show_tool(self._pages, session, tool)


async def show_tool(pages: Pages, session: Session, tool: Tool, **more: Any) -> Response:
    """Return a tool's page; `more` are values about a filled-in form."""
    fields = fields_of(tool.input_schema)
    values: dict[str, Any] = {
        "filled": None,
        "is_json": fields[:1] != () and not fields[0].path,
        "explained": None,
        **more,
    }
    return await pages.page(
        "tools/tool.html",
        session,
        here="tools",
        status=422 if values["filled"] and values["filled"].errors else 200,
        tool=tool,
        evidence=evidence_rows(tool, pages.gateway.guard.policy()),
        fields=fields,
        arguments=[*flat(fields)],
        **values,
    )


def _choices(tools: tuple[Tool, ...]) -> dict[str, Any]:
    categories = {reveal(tool.intent.category) for tool in tools if tool.intent.category}
    return {
        "hint": hint_choices(),
        "source": SOURCES,
        "findings": FINDINGS,
        "server": [(server, server) for server in sorted({tool.server for tool in tools})],
        "category": [(category, category) for category in sorted(categories)],
    }
