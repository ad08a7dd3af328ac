"""Endpoints for the tools that a visitor may see."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sayso.catalog import Tool
from sayso.console.api.authentication import Authentication, Visitor
from sayso.console.api.problem import ProblemError
from sayso.console.api.shapes import tool_shape
from sayso.console.entry.roles import Role
from sayso.console.tools.inventory import seen_inventory, take_inventory
from sayso.gateway import Gateway, Upstream
from sayso.policy import Principal


@dataclass(frozen=True, slots=True)
class _CallersTools:
    upstream: Upstream
    caller: Principal

    @property
    def name(self) -> str:
        return self.upstream.name

    async def tools(self) -> tuple[list[Tool], list[str]]:
        return await self.upstream.of(self.caller).tools()


class ToolEndpoints:
    """Lists tools, and returns one; a hidden tool is reported like a missing one."""

    def __init__(self, gateway: Gateway, authentication: Authentication) -> None:
        self._gateway = gateway
        self._authentication = authentication

    async def all(self, request: Request) -> Response:
        visible = await self._seen(await self._authentication.authenticate(request))
        return JSONResponse({"tools": [tool_shape(tool) for tool in visible]})

    async def one(self, request: Request) -> Response:
        name = request.path_params["name"]
        visible = await self._seen(await self._authentication.authenticate(request))
        tool = next((tool for tool in visible if tool.qualified_name == name), None)
        if tool is None:
            raise ProblemError(404, "absent", "Tool not found.")
        return JSONResponse(tool_shape(tool))

    async def _seen(self, visitor: Visitor) -> list[Tool]:
        if visitor.principal is None:
            visitor.require(Role.VIEWER)
            return [*(await seen_inventory(self._gateway)).tools]
        caller = visitor.principal
        guard = self._gateway.guard
        inventory = await take_inventory(
            [_CallersTools(upstream, caller) for upstream in self._gateway.upstreams.upstreams]
        )
        looked = (guard.sees(caller, tool) for tool in inventory.tools)
        return [seen[0] for seen in looked if seen is not None]
