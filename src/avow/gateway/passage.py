"""What becomes of each request.

Lists are joined, calls go through the guard, the rest is passed on to the server it belongs to.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from avow.approvals import Elicit, Rounds
from avow.catalog import SEPARATOR, Catalog, Tool, qualify
from avow.connect import RpcError
from avow.connect.listing import LISTS
from avow.gateway.fleet import Fleet
from avow.gateway.search import META_TOOLS, Search
from avow.guard import Guard, Through, UnknownToolError
from avow.guard.call import Progress
from avow.policy import Principal

META_PROBLEMS: Final = "io.avow/problems"
_UNTOLD: Final = "some servers or tools cannot be had just now"
_INVALID_PARAMS: Final = -32602
RESOURCE_NOT_FOUND: Final = -32002


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a client, of any method, with its raw parameters.

    `elicit` and `rounds` are how that client can ask its person, as far as it can.
    """

    method: str
    params: Mapping[str, Any]
    version: str
    principal: Principal
    progress: Progress
    elicit: Elicit | None = None
    rounds: Rounds | None = None


@dataclass(slots=True)
class Passage:
    """Answers requests over a fleet of servers, with one guard before every tool.

    Names begin with their server's, unless `alone` names the only one.
    """

    fleet: Fleet
    guard: Guard
    alone: str | None = None
    search: Search = field(init=False)
    _catalog: Catalog = field(default_factory=lambda: Catalog({}))

    def __post_init__(self) -> None:
        async def catalog(principal: Principal) -> Catalog:
            return await self.fleet.of(principal).catalog()

        self.search = Search(self.guard, catalog, self._name_of)

    @property
    def routes(self) -> Mapping[str, Callable[[Request], Awaitable[dict[str, Any]]]]:
        """The methods that are answered here."""
        return {
            "tools/list": self.list_tools,
            "tools/call": self.call_tool,
            "prompts/list": self.list_prompts,
            "prompts/get": self.get_prompt,
            "resources/list": self.list_resources,
            "resources/templates/list": self.list_resources,
            "resources/read": self.read_resource,
            "completion/complete": self.complete,
        }

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool that was listed; the SDK checks `Mcp-Param` headers against it."""
        tool = self._catalog.find(self._qualified(name))
        return tool.input_schema if tool else None

    async def list_tools(self, request: Request) -> dict[str, Any]:
        """The tools this caller may know of, with the hints that count."""
        self._catalog = await self.fleet.of(request.principal).catalog()
        tools: list[dict[str, Any]] = []
        if self.search.is_on:
            tools += [one.listing(request.version) for one in META_TOOLS.values()]
            found = await self.search.listed(request.principal)
        else:
            looked = (
                self.guard.sees(request.principal, one) for one in self._catalog.tools.values()
            )
            found = [seen[0] for seen in looked if seen is not None]
        tools += [self._entry(one, request.version) for one in found]
        problems = self._problems(request.principal)
        return {"tools": tools} | ({"_meta": {META_PROBLEMS: problems}} if problems else {})

    def _problems(self, principal: Principal) -> list[str]:
        """What is wrong with the servers behind, as far as this caller may know.

        Problems name tools, and quote what servers say: who sees only some tools sees none of it.
        """
        found = self._catalog.problems
        if principal.scopes is None or not found:
            return list(found)
        return [_UNTOLD]

    async def call_tool(self, request: Request) -> dict[str, Any]:
        """One call through the guard."""
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
            return await self.guard.call(
                request.principal,
                self._qualified(name),
                arguments,
                progress=request.progress,
                meta=request.params.get("_meta"),
                elicit=request.elicit,
                rounds=request.rounds,
                through=through,
            )
        except UnknownToolError:
            raise UnknownToolError(name) from None

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
        return await self._forward_prompt(request, request.params["name"], ("name",))

    async def list_resources(self, request: Request) -> dict[str, Any]:
        """The resources or templates of all servers, as they are."""
        found = await self.fleet.of(request.principal).collect(request.method)
        key = "uriTemplate" if "templates" in request.method else "uri"
        # One entry that is none would make a client refuse the whole list.
        entries = [entry for _, entry in found if isinstance(entry.get(key), str)]
        return {LISTS[request.method]: entries}

    async def read_resource(self, request: Request) -> dict[str, Any]:
        """One resource, from the server that lists it or has a template that fits."""
        uri = request.params["uri"]
        upstream = await self.fleet.of(request.principal).find_resource(uri)
        if upstream is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {uri}")
        return await self.fleet.of(request.principal).forward(
            upstream, request.method, _own(request.params)
        )

    async def complete(self, request: Request) -> dict[str, Any]:
        """Completions for a prompt's or a template's argument, from its server."""
        ref = request.params["ref"]
        if ref.get("type") == "ref/prompt":
            return await self._forward_prompt(request, ref["name"], ("ref", "name"))
        upstream = await self.fleet.of(request.principal).find_resource(ref["uri"])
        if upstream is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {ref['uri']}")
        return await self.fleet.of(request.principal).forward(
            upstream, request.method, _own(request.params)
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
        return await self.fleet.of(request.principal).forward(upstream, request.method, params)


def _own(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters without `_meta`, which speaks of the caller's connection."""
    return {key: value for key, value in params.items() if key != "_meta"}


def _with(params: Mapping[str, Any], path: tuple[str, ...], value: str) -> dict[str, Any]:
    key, *rest = path
    inner = _with(params[key], tuple(rest), value) if rest else value
    return {**params, key: inner}
