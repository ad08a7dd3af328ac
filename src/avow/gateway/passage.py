"""What becomes of each request.

Lists are joined, calls go through the guard, the rest is passed on to the server it belongs to.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from avow.catalog import SEPARATOR, Catalog, Tool, qualify
from avow.connect import RpcError
from avow.connect.listing import LISTS
from avow.errors import AvowError
from avow.gateway.fleet import Fleet, own_meta
from avow.gateway.flights import Flights
from avow.gateway.listening import listen, set_level, subscribe, unsubscribe
from avow.gateway.request import Request
from avow.gateway.search import META_TOOLS, Search
from avow.gateway.tasks import Tasks, task_of
from avow.gateway.upstream import Upstream
from avow.guard import Guard, Through, UnknownToolError
from avow.policy import Principal

_ROUNDS: Final = frozenset({"_meta", "inputResponses", "requestState"})
META_PROBLEMS: Final = "io.avow/problems"
_UNTOLD: Final = "some servers or tools cannot be had just now"
_INVALID_PARAMS: Final = -32602
RESOURCE_NOT_FOUND: Final = -32002


Route = Callable[[Request], Awaitable[dict[str, Any]]]


@dataclass(slots=True)
class Passage:
    """Answers requests over a fleet of servers, with one guard before every tool.

    Names begin with their server's, unless `alone` names the only one.
    """

    fleet: Fleet
    guard: Guard
    flights: Flights
    alone: str | None = None
    search: Search = field(init=False)

    def __post_init__(self) -> None:
        async def catalog(principal: Principal) -> Catalog:
            return await self.fleet.of(principal).catalog()

        self.search = Search(self.guard, catalog, self._name_of)

    @property
    def routes(self) -> Mapping[str, Route]:
        """The methods that are answered here."""
        tasks = Tasks(self.fleet, self.guard, self.flights.keys)
        return {
            "tools/list": self.list_tools,
            "tools/call": self.call_tool,
            "prompts/list": self.list_prompts,
            "prompts/get": self.get_prompt,
            "resources/list": self.list_resources,
            "resources/templates/list": self.list_resources,
            "resources/read": self.read_resource,
            "completion/complete": self.complete,
            "tasks/get": tasks.forward,
            "tasks/update": tasks.forward,
            "tasks/cancel": tasks.forward,
            "logging/setLevel": partial(set_level, self.fleet),
            "resources/subscribe": partial(subscribe, self.fleet),
            "resources/unsubscribe": partial(unsubscribe, self.fleet),
            "subscriptions/listen": partial(listen, self.fleet, alone=self.alone),
        }

    async def check_parameters(
        self, params: Mapping[str, Any], principal: Principal, headers: Mapping[str, str]
    ) -> None:
        """Hold the headers of a call to the arguments that its tool marks (MCP 2026-07-28).

        Whoever routes by a header must see what is carried out. Raises `RpcError`.
        """
        name = self._qualified(params["name"])
        tool = self.fleet.known(name, principal)
        if tool is None:
            with suppress(AvowError):
                tool = await self.fleet.find_tool(name, principal)
        if tool is None or not tool.is_marked or self.guard.sees(principal, tool) is None:
            return
        from mcp.shared.inbound import validate_mcp_param_headers  # noqa: PLC0415 - half a second, for the few tools that want it

        wrong = validate_mcp_param_headers(
            tool.input_schema, params.get("arguments") or {}, headers
        )
        if wrong is not None:
            raise RpcError(wrong.code, wrong.message)

    async def list_tools(self, request: Request) -> dict[str, Any]:
        """The tools this caller may know of, with the hints that count."""
        catalog = await self.fleet.of(request.principal).catalog()
        tools: list[dict[str, Any]] = []
        if self.search.is_on:
            tools += [one.listing(request.version) for one in META_TOOLS.values()]
            found = await self.search.listed(request.principal)
        else:
            looked = (self.guard.sees(request.principal, one) for one in catalog.tools.values())
            found = [seen[0] for seen in looked if seen is not None]
        tools += [self._entry(one, request.version) for one in found]
        problems = _problems(catalog, request.principal)
        return {"tools": tools} | ({"_meta": {META_PROBLEMS: problems}} if problems else {})

    async def call_tool(self, request: Request) -> dict[str, Any]:
        """One call through the guard, in one round or in several."""
        return await self.flights.take(request, self._call)

    async def _call(self, request: Request) -> dict[str, Any]:
        params = request.params
        name: str = params["name"]
        arguments: dict[str, Any] = params.get("arguments") or {}
        if self.search.answers(name):
            run = partial(self._run, request)
            return await self.search.call(name, arguments, request.principal, run)
        return await self._run(request, name, arguments)

    async def _run(
        self,
        request: Request,
        name: str,
        arguments: Mapping[str, Any],
        through: Through | None = None,
    ) -> dict[str, Any]:
        try:
            result = await self.guard.call(
                request.principal,
                self._qualified(name),
                arguments,
                progress=request.progress,
                meta=request.params.get("_meta"),
                elicit=request.elicit,
                rounds=request.rounds,
                through=through,
                caller=request.caller,
            )
        except UnknownToolError:
            raise UnknownToolError(name) from None
        if result.get("resultType") == "task":
            return task_of(self.flights.keys, request.principal, self._qualified(name), result)
        return result

    def _entry(self, tool: Tool, version: str) -> dict[str, Any]:
        entry = tool.listing(version)
        return {**entry, "name": self._name_of(tool)}

    def _name_of(self, tool: Tool) -> str:
        """What clients call a tool here."""
        return tool.name if self.alone else tool.qualified_name

    def _qualified(self, name: str) -> str:
        return qualify(self.alone, name) if self.alone else name

    async def list_prompts(self, request: Request) -> dict[str, Any]:
        """The prompts of all servers, named `server__prompt`."""
        found = await self.fleet.of(request.principal).collect("prompts/list")
        return {
            "prompts": [
                entry if self.alone else {**entry, "name": f"{one.name}{SEPARATOR}{entry['name']}"}
                for one, entry in found
                if isinstance(entry.get("name"), str)
            ]
        }

    async def get_prompt(self, request: Request) -> dict[str, Any]:
        """One prompt, from its server."""

        async def get(request: Request) -> dict[str, Any]:
            return await self._forward_prompt(request, request.params["name"], ("name",))

        return await self.flights.take(request, get)

    async def list_resources(self, request: Request) -> dict[str, Any]:
        """The resources or templates of all servers, as they are."""
        found = await self.fleet.of(request.principal).collect(request.method)
        key = "uriTemplate" if "templates" in request.method else "uri"
        # One entry that is none would make a client refuse the whole list.
        entries = [entry for _, entry in found if isinstance(entry.get(key), str)]
        return {LISTS[request.method]: entries}

    async def read_resource(self, request: Request) -> dict[str, Any]:
        """One resource, from the server that lists it or has a template that fits."""
        return await self.flights.take(request, self._read)

    async def _read(self, request: Request) -> dict[str, Any]:
        upstream = await self._owner(request, request.params["uri"])
        return await self._forward(upstream, request, _own(request.params))

    async def complete(self, request: Request) -> dict[str, Any]:
        """Completions for a prompt's or a template's argument, from its server."""
        ref = request.params["ref"]
        if ref.get("type") == "ref/prompt":
            return await self._forward_prompt(request, ref["name"], ("ref", "name"))
        upstream = await self._owner(request, ref["uri"])
        return await self._forward(upstream, request, _own(request.params))

    async def _owner(self, request: Request, uri: str) -> Upstream:
        upstream = await self.fleet.of(request.principal).find_resource(uri)
        if upstream is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {uri}")
        return upstream

    async def _forward(
        self, upstream: Upstream, request: Request, params: dict[str, Any]
    ) -> dict[str, Any]:
        return await self.fleet.of(request.principal).forward(
            upstream, request.method, params, caller=request.caller, progress=request.progress
        )

    async def _forward_prompt(
        self, request: Request, qualified: str, path: tuple[str, ...]
    ) -> dict[str, Any]:
        found = await self.fleet.of(request.principal).find_prompt(
            f"{self.alone}{SEPARATOR}{qualified}" if self.alone else qualified
        )
        if found is None:
            raise RpcError(_INVALID_PARAMS, f"Unknown prompt: {qualified}")
        upstream, name = found
        params = _with(_own(request.params), path, name)
        return await self._forward(upstream, request, params)


def _problems(catalog: Catalog, principal: Principal) -> list[str]:
    """What is wrong with the servers behind, as far as this caller may know.

    Problems name tools, and quote what servers say: who sees only some tools sees none of it.
    """
    found = catalog.problems
    if principal.scopes is None or not found:
        return list(found)
    return [_UNTOLD]


def _own(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, with what of `_meta` is for the server; what a client brings is not."""
    own = {key: value for key, value in params.items() if key not in _ROUNDS}
    return {**own, **own_meta(params.get("_meta"))}


def _with(params: Mapping[str, Any], path: tuple[str, ...], value: str) -> dict[str, Any]:
    key, *rest = path
    inner = _with(params[key], tuple(rest), value) if rest else value
    return {**params, key: inner}
