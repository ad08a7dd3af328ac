"""The middleware of a server, which passes every tool list and tool call to the guard.

Each of the three kinds of server has it, since each contains the SDK's low-level server. The SDK
marks middleware as provisional, so only this file and `binding` use it.
"""

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import mcp_types as types
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from sayso.errors import StoreError, UnknownToolError
from sayso.incidents import describe_incident, report_incident
from sayso.policy import LOCAL, Principal, is_reserved
from sayso.serve.exchange import (
    ActiveRequest,
    Request,
    as_list_request,
    as_object,
    as_wire,
    client_input,
    client_name,
    elicit_of,
    finish_result,
    has_begun,
    list_params,
    rounds_of,
)
from sayso.serve.frameworks import Framework
from sayso.serve.functions import is_same_function
from sayso.serve.runtime import Runtime
from sayso.serve.tool_registry import ToolRegistry

if TYPE_CHECKING:
    from sayso.guard import Answer, Call

_log: Final = logging.getLogger(__name__)

_HANDSHAKE: Final = frozenset({"initialize", "server/discover", "ping"})
"""Methods that reveal nothing, so they work even if the policy disables the server or caller."""


_active: ContextVar[ActiveRequest] = ContextVar("sayso_active_request")


@dataclass(slots=True, eq=False)
class Middleware:
    """The middleware. `principal` is the caller of requests without a token.

    `tenant` is the name of the token claim with the caller's tenant.
    """

    registry: ToolRegistry
    framework: Framework
    principal: Principal
    tenant: str | None = None
    runtime: Runtime = field(init=False)

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        is_ours = ctx.request_id is not None and ctx.method in ("tools/list", "tools/call")
        if not is_ours and ctx.request_id is not None and ctx.method not in _HANDSHAKE:
            self._check_is_on(ctx)
        if not is_ours or not has_begun(ctx):
            return await call_next(as_list_request(ctx) if is_ours else ctx)
        token = _active.set(ActiveRequest(ctx, call_next))
        try:
            if ctx.method == "tools/list":
                return await self._list(ctx, call_next)
            return await self._call(ctx)
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except StoreError as error:
            _log.error("%s", error)
            what = "Nothing was run: sayso cannot write its log."
            raise MCPError(types.INTERNAL_ERROR, what) from None
        except MCPError:
            raise
        except Exception as error:  # internals are kept from the client
            what = describe_incident(report_incident(_log, error))
            raise MCPError(types.INTERNAL_ERROR, what) from error
        finally:
            _active.reset(token)

    def _check_is_on(self, ctx: Request) -> None:
        """Refuse prompts, resources etc. if the policy disables the server or caller.

        Tool lists and calls need no refusal here: the lists are empty, and the guard denies calls.
        """
        if not self.runtime.lets_in(self.registry.server, self._caller(ctx).subject):
            what = "the policy switches off this server or caller"
            raise MCPError(types.INVALID_REQUEST, what)

    async def _list(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        result = await _listed(ctx, call_next)
        await self._take(result.get("tools") or [])
        runtime = self.runtime
        caller = self._caller(ctx)
        pairs = [(tool, runtime.sees(caller, tool)) for tool in self.registry.tools.values()]
        tools = [self.registry.entry(tool, view[0]) for tool, view in pairs if view is not None]
        page = {**result, "cacheScope": "private", "tools": tools}
        return finish_result(ctx, page, self.framework.lowlevel)

    async def _call(self, ctx: Request) -> HandlerResult:
        params = as_object(ctx.params)
        name: Any = params.get("name")
        arguments: Any = params.get("arguments")
        if not isinstance(name, str):
            raise MCPError(types.INVALID_PARAMS, "name must be a string")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise MCPError(types.INVALID_PARAMS, "arguments must be an object")
        guard = await self.runtime.guard()
        answer = await guard.call(
            self._caller(ctx),
            name,
            as_object(cast("object", arguments)),
            progress=ctx.session.report_progress,
            meta=as_object(params.get("_meta")) or None,
            brought=client_input(ctx),
            elicit=elicit_of(ctx),
            rounds=rounds_of(ctx),
        )
        return finish_result(ctx, answer, self.framework.lowlevel)

    async def warn(self) -> None:
        """At the start, warn the author of missing declarations and unreachable tools.

        Raises `UsageError` if a declaration with `declare` is invalid.
        """
        await self._take(await self.framework.entries())
        self.registry.check()
        if lost := sorted(self.registry.definitions.keys() - self.registry.tools.keys()):
            _log.warning(
                "%s: declared but not in the server's own list, so they cannot be called. A "
                "transform that renames tools, or calls them by name, bypasses sayso",
                ", ".join(lost),
            )
        scopes = sorted(
            {scope for tool in self.registry.tools.values() for scope in tool.intent.scopes}
        )
        has_caller = self.runtime.settings.has_principal or self.framework.knows_callers
        if scopes and not has_caller:
            _log.warning(
                "tools with the scopes %s are visible only to calls with a token, which stdio does "
                "not have. Pass sayso.bind(…, principal=sayso.Principal(%r, "
                "scopes=frozenset(%r)))",
                ", ".join(scopes),
                LOCAL,
                scopes,
            )

    async def _take(self, entries: list[dict[str, Any]]) -> None:
        functions = {
            entry["name"]: await self.framework.function_of(entry["name"]) for entry in entries
        }
        self.registry.take(entries, functions)

    def _caller(self, ctx: Request | None = None) -> Principal:
        """Return the caller of the verified token; without a token, the author's `principal`."""
        token = get_access_token()
        if token is None:
            client = self.principal.client if ctx is None else client_name(ctx)
            return replace(self.principal, client=client, is_local=True)
        return principal_of(token, self.tenant)

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool's arguments, if this caller may see the tool."""
        tool = self.registry.tools.get(name)
        if tool is None or self.runtime.sees(self._caller(), tool) is None:
            return None
        return tool.input_schema

    async def find(self, name: str, _principal: object, /, *, is_fresh: bool = False) -> Any:
        """Return the tool of this name.

        Requests the framework's list if the tool is unknown or has changed, or with `is_fresh`. The
        list is also requested if the tool is hidden, so that timing does not reveal the tool.
        """
        active = _active.get()
        if is_fresh or not await self._is_known(active.ctx, name):
            ctx = replace(active.ctx, method="tools/list", params=list_params(active.ctx))
            await self._take((await _listed(ctx, active.then)).get("tools") or [])
        active.function = self.registry.functions.get(name)
        return self.registry.tools.get(name)

    async def _is_known(self, ctx: Request, name: str) -> bool:
        tool = self.registry.tools.get(name)
        if tool is None or self.runtime.sees(self._caller(ctx), tool) is None:
            return False
        return await self.holds(name, self.registry.functions.get(name))

    async def holds(self, name: str, function: Callable[..., Any] | None) -> bool:
        """Return whether the tool of this name still has the function `function`."""
        definition = self.registry.definitions.get(name)
        if definition is not None and definition.execute is not None:
            return True
        return is_same_function(await self.framework.function_of(name), function)

    async def run(self, call: "Call") -> "Answer":
        """Execute one call, with the tool's own function or with the framework."""
        from sayso.serve.execution import carry_out  # noqa: PLC0415 - only for calls

        guard = await self.runtime.guard()
        return await carry_out(
            call,
            _active.get(),
            guard.schemas.of(call.tool),
            registry=self.registry,
            framework=self.framework,
            holds=self.holds,
        )


async def _listed(ctx: Request, then: CallNext) -> dict[str, Any]:
    """Return all pages of the framework's tools as one list."""
    entries: list[dict[str, Any]] = []
    params: Mapping[str, Any] | None = {
        key: value for key, value in as_object(ctx.params).items() if key != "cursor"
    } or None
    while True:
        page = as_wire(await then(replace(ctx, method="tools/list", params=params)))
        entries += cast("list[dict[str, Any]]", page.get("tools") or [])
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return {**page, "tools": entries}
        params = {**as_object(params), "cursor": cursor}


def principal_of(token: AccessToken, tenant: str | None = None) -> Principal:
    """Return the caller of a verified token; `tenant` names the claim with the caller's tenant.

    Raises `MCPError` if the token does not have this claim.
    """
    roles: Any = (token.claims or {}).get("roles")
    if not isinstance(roles, list):
        roles = [roles]
    return Principal(
        subject_of(token),
        client=token.client_id,
        scopes=frozenset(token.scopes),
        roles=frozenset(role for role in cast("list[Any]", roles) if isinstance(role, str)),
        tenant=None if tenant is None else _tenant_of(token, tenant),
    )


def _tenant_of(token: AccessToken, claim: str) -> str:
    tenant = (token.claims or {}).get(claim)
    if not isinstance(tenant, str) or not tenant.strip():
        raise MCPError(types.INVALID_REQUEST, "the token has no tenant")
    return tenant


def subject_of(token: AccessToken) -> str:
    """Return a token's subject; if it is missing or reserved, return a prefixed name."""
    if not token.subject:
        return f"client:{token.client_id}"
    if is_reserved(token.subject):
        return f"token:{token.subject}"
    return token.subject
