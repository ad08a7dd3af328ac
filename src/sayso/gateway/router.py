"""The router of requests: it merges lists, sends calls through the guard, and forwards the rest."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

import msgspec

from sayso.catalog import SEPARATOR, Catalog, Tool, qualify
from sayso.connect import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LISTS,
    RESOURCE_NOT_FOUND,
    RpcError,
    header_mismatch,
)
from sayso.errors import SaysoError
from sayso.gateway.addresses import Address, may_link, with_uri
from sayso.gateway.listening import listen, set_level, subscribe, unsubscribe
from sayso.gateway.listings import Listings
from sayso.gateway.multi_round import PendingCalls
from sayso.gateway.patience import patience_for
from sayso.gateway.request import Request
from sayso.gateway.search import META_TOOLS, Search
from sayso.gateway.tasks import Tasks, task_of
from sayso.gateway.upstreams import Upstreams
from sayso.gateway.versions import known_fields
from sayso.guard import Guard, Through, UnknownToolError, no_progress, protocol_params
from sayso.policy import Listing, Policy, Principal
from sayso.slices import in_slices

_ROUNDS: Final = frozenset({"_meta", "inputResponses", "requestState"})
META_PROBLEMS: Final = "io.sayso/problems"
_HIDDEN_PROBLEMS: Final = "some servers or tools are unavailable"

Route = Callable[[Request], Awaitable[dict[str, Any]]]


@dataclass(slots=True)
class Router:
    """A router for several servers, with one guard before every tool.

    Tools' and prompts' names begin with their server's name, except if `alone` names the only
    server. With `fits_patience`, a call waits for a person only as long as its client can wait.
    """

    upstreams: Upstreams
    guard: Guard
    pending_calls: PendingCalls
    alone: str | None = None
    fits_patience: bool = False
    search: Search = field(init=False)
    listings: Listings = field(init=False)

    def __post_init__(self) -> None:
        self.listings = Listings(self._entry)

        async def catalog(principal: Principal) -> Catalog:
            return await self.upstreams.of(principal).catalog()

        self.search = Search(self.guard, catalog, self._name_of)

    @property
    def routes(self) -> Mapping[str, Route]:
        tasks = Tasks(self.upstreams, self.guard, self.pending_calls.keys)
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
            "logging/setLevel": partial(set_level, self.upstreams),
            "resources/subscribe": partial(subscribe, self.upstreams),
            "resources/unsubscribe": partial(unsubscribe, self.upstreams),
            "subscriptions/listen": partial(listen, self.upstreams, alone=self.alone),
        }

    async def check_parameters(
        self, params: Mapping[str, Any], principal: Principal, headers: Mapping[str, str]
    ) -> Tool | None:
        """Check a call's headers against the arguments that its tool marks (MCP 2026-07-28).

        Headers must equal the arguments, because proxies route by headers. Returns the tool if its
        server has it now, so that the guard need not find it again. Raises `RpcError`.
        """
        name = self._qualified(params["name"])
        current: Tool | None = None
        with suppress(SaysoError):
            current = await self.upstreams.find_tool(name, principal)
        tool = current or self.upstreams.known(name, principal)
        if tool is None or not tool.is_marked or self.guard.sees(principal, tool) is None:
            return current
        problem = header_mismatch(tool.input_schema or {}, params.get("arguments") or {}, headers)
        if problem is not None:
            raise RpcError(HEADER_MISMATCH, problem)
        return current

    async def list_tools(self, request: Request) -> dict[str, Any]:
        """Return the tools that this caller may see, with their resolved hints.

        The list is rendered JSON (`msgspec.Raw`).
        """
        caller = request.principal
        version = request.version
        catalog = await self.upstreams.of(caller).catalog()
        policy = self.guard.policy()
        tools = self.listings.known(catalog, policy, caller, version)
        if tools is None:
            tools = await self._render(catalog, policy, caller, version)
        if not catalog.problems:
            return {"tools": tools}
        # Problems name tools that a caller with scopes may not see, so such callers get no details.
        problems = [*catalog.problems] if caller.scopes is None else [_HIDDEN_PROBLEMS]
        return {"tools": tools, "_meta": {META_PROBLEMS: problems}}

    async def _render(
        self, catalog: Catalog, policy: Policy, caller: Principal, version: str
    ) -> msgspec.Raw:
        first: list[dict[str, Any]] = []
        if policy.tools is Listing.SEARCH:
            metas = (meta.listing(version) for meta in META_TOOLS.values())
            first = [known_fields("tool", entry, version) for entry in metas]
            visible = await self.search.listed(caller)
        else:
            sights = await in_slices(
                catalog.tools.values(), lambda tool: self.guard.sees(caller, tool, policy)
            )
            visible = [sight[0] for sight in sights if sight is not None]
        is_kept = policy is self.guard.policy() and not policy.hides_by_call
        return await self.listings.render(
            catalog, policy, caller, version, visible, first, is_kept=is_kept
        )

    async def call_tool(self, request: Request) -> dict[str, Any]:
        return await self.pending_calls.take(request, self._call)

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
                patience=self._patience(request),
                # `request.tool` is the meta-tool, not the tool that it calls.
                tool=request.tool if through is None else None,
            )
        except UnknownToolError:
            raise UnknownToolError(name) from None
        if result.get("resultType") == "task":
            return task_of(
                self.pending_calls.keys, request.principal, self._qualified(name), result
            )
        if not may_link(result):
            return result
        tool = self.upstreams.known(self._qualified(name), request.principal)
        if tool is None:
            return result
        return await self.upstreams.of(request.principal).readdress(tool.server, result)

    def _patience(self, request: Request) -> float | None:
        """Return the seconds that a call waits for a person; `None` for the operator's setting."""
        if not self.fits_patience:
            return None
        tells = request.progress is not no_progress
        return patience_for(request.client_name, tells_progress=tells)

    def _entry(self, tool: Tool, version: str) -> dict[str, Any]:
        entry = known_fields("tool", tool.listing(version), version)
        return {**entry, "name": self._name_of(tool)}

    def _name_of(self, tool: Tool) -> str:
        return tool.name if self.alone else tool.qualified_name

    def _qualified(self, name: str) -> str:
        return qualify(self.alone, name) if self.alone else name

    async def list_prompts(self, request: Request) -> dict[str, Any]:
        entries = await self.upstreams.of(request.principal).collect("prompts/list")
        prompts = [(upstream, entry) for upstream, entry in entries if _has_text(entry, "name")]
        if self.alone:
            return {"prompts": [entry for _, entry in prompts]}
        return {
            "prompts": [
                {**entry, "name": f"{upstream.name}{SEPARATOR}{entry['name']}"}
                for upstream, entry in prompts
            ]
        }

    async def get_prompt(self, request: Request) -> dict[str, Any]:
        async def get(request: Request) -> dict[str, Any]:
            return await self._forward_prompt(request, request.params["name"], ("name",))

        return await self.pending_calls.take(request, get)

    async def list_resources(self, request: Request) -> dict[str, Any]:
        """Return the resources or templates of all servers, with shared URIs in qualified form."""
        view = self.upstreams.of(request.principal)
        collected = await view.collect(request.method)
        key = "uriTemplate" if "templates" in request.method else "uri"
        # One invalid entry would make a client refuse the whole list.
        entries = [(upstream.name, entry) for upstream, entry in collected if _has_text(entry, key)]
        if not view.is_single:
            addresses = await view.addresses()
            show = addresses.show if key == "uri" else addresses.show_template
            entries = [(name, {**entry, key: show(name, entry[key])}) for name, entry in entries]
        return {LISTS[request.method]: [entry for _, entry in entries]}

    async def read_resource(self, request: Request) -> dict[str, Any]:
        """Return a resource from the server that lists it or has a matching template."""
        return await self.pending_calls.take(request, self._read)

    async def _read(self, request: Request) -> dict[str, Any]:
        address = await self._owner(request, request.params["uri"])
        params = _with(_own(request.params), ("uri",), address.uri)
        result = await self._forward(address.server, request, params)
        if address.prefix and isinstance(result.get("contents"), list):
            contents = cast("list[object]", result["contents"])
            result["contents"] = [_prefixed(content, address.prefix) for content in contents]
        return result

    async def complete(self, request: Request) -> dict[str, Any]:
        """Return completions for a prompt's or a template's argument, from its server."""
        ref = request.params["ref"]
        if ref.get("type") == "ref/prompt":
            return await self._forward_prompt(request, ref["name"], ("ref", "name"))
        address = await self._owner(request, ref["uri"])
        params = _with(_own(request.params), ("ref", "uri"), address.uri)
        return await self._forward(address.server, request, params)

    async def _owner(self, request: Request, uri: str) -> Address:
        address = await self.upstreams.of(request.principal).find_resource(uri)
        if address is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"Resource not found: {uri}")
        return address

    async def _forward(
        self, server: str, request: Request, params: dict[str, Any]
    ) -> dict[str, Any]:
        return await self.upstreams.of(request.principal).forward(
            self.upstreams.owner(server),
            request.method,
            params,
            caller=request.caller,
            progress=request.progress,
        )

    async def _forward_prompt(
        self, request: Request, qualified: str, path: tuple[str, ...]
    ) -> dict[str, Any]:
        view = self.upstreams.of(request.principal)
        prompt = await view.find_prompt(
            f"{self.alone}{SEPARATOR}{qualified}" if self.alone else qualified
        )
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {qualified}")
        upstream, name = prompt
        params = _with(_own(request.params), path, name)
        result = await self._forward(upstream.name, request, params)
        return await view.readdress(upstream.name, result)


def _has_text(entry: Mapping[str, Any], key: str) -> bool:
    return isinstance(entry.get(key), str)


def _own(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters for the server, without the answers and with `_meta` reduced."""
    own = {key: value for key, value in params.items() if key not in _ROUNDS}
    return {**own, **protocol_params(params.get("_meta"))}


def _prefixed(content: object, prefix: str) -> object:
    if not isinstance(content, dict):
        return content
    return with_uri(cast("dict[str, Any]", content), prefix.__add__)


def _with(params: Mapping[str, Any], path: tuple[str, ...], value: str) -> dict[str, Any]:
    key, *rest = path
    inner = _with(params[key], tuple(rest), value) if rest else value
    return {**params, key: inner}
