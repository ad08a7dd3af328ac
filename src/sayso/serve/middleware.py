"""The middleware of a server: every list and every call of a tool goes through the guard.

One middleware for all three kinds of server, since each is the SDK's low-level server inside. The
SDK marks middleware as provisional: this file and `binding` are all that know of it.
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
    as_object,
    as_wire,
    brought,
    client_name,
    dress,
    elicit_of,
    harmless,
    has_begun,
    meta_only,
    rounds_of,
)
from sayso.serve.frameworks import Framework
from sayso.serve.functions import is_same
from sayso.serve.runtime import Runtime
from sayso.serve.tool_registry import ToolRegistry

if TYPE_CHECKING:
    from sayso.guard import Answer, Call

_log: Final = logging.getLogger(__name__)

_HANDSHAKE: Final = frozenset({"initialize", "server/discover", "ping"})
"""Answered even while the policy switches off server or caller: they give nothing away."""


_active: ContextVar[ActiveRequest] = ContextVar("sayso_active_request")


@dataclass(slots=True, eq=False)
class Middleware:
    """The middleware. `principal` is who calls where no token says so.

    `tenant` is the claim of a token that names the caller's tenant.
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
            return await call_next(harmless(ctx) if is_ours else ctx)
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
        except Exception as error:  # the edge of a request: the client learns nothing of our inside
            what = describe_incident(report_incident(_log, error))
            raise MCPError(types.INTERNAL_ERROR, what) from error
        finally:
            _active.reset(token)

    def _check_is_on(self, ctx: Request) -> None:
        """Refuse prompts, resources and the like where the policy switches off server or caller.

        Lists of tools are empty then, and calls are denied by the guard, which records them.
        """
        if not self.runtime.lets_in(self.registry.server, self._caller(ctx).subject):
            what = "the policy switches off this server or caller"
            raise MCPError(types.INVALID_REQUEST, what)

    async def _list(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        result = await _listed(ctx, call_next)
        await self._take(result.get("tools") or [])
        runtime = self.runtime
        caller = self._caller(ctx)
        looked = [(tool, runtime.sees(caller, tool)) for tool in self.registry.tools.values()]
        seen = [self.registry.entry(tool, found[0]) for tool, found in looked if found is not None]
        return dress(
            ctx, {**result, "cacheScope": "private", "tools": seen}, self.framework.lowlevel
        )

    async def _call(self, ctx: Request) -> HandlerResult:
        params = as_object(ctx.params)
        name: Any = params.get("name")
        arguments: Any = params.get("arguments")
        if not isinstance(name, str):
            raise MCPError(types.INVALID_PARAMS, "a call names its tool")
        if arguments is not None and not isinstance(arguments, Mapping):
            raise MCPError(types.INVALID_PARAMS, "the arguments of a call are an object")
        guard = await self.runtime.guard()
        answer = await guard.call(
            self._caller(ctx),
            name,
            as_object(cast("object", arguments)),
            progress=ctx.session.report_progress,
            meta=as_object(params.get("_meta")) or None,
            brought=brought(ctx),
            elicit=elicit_of(ctx),
            rounds=rounds_of(ctx),
        )
        return dress(ctx, answer, self.framework.lowlevel)

    async def warn(self) -> None:
        """Tell the author, before anybody calls, what to declare and what nobody can see.

        Raises `UsageError` for what `declare` said and cannot be meant.
        """
        await self._take(await self.framework.entries())
        self.registry.check()
        if lost := sorted(self.registry.definitions.keys() - self.registry.tools.keys()):
            _log.warning(
                "%s: declared, and not in the server's own list: nobody can call them. A transform "
                "that renames tools, or calls them by name, goes past sayso",
                ", ".join(lost),
            )
        wanted = sorted(
            {scope for tool in self.registry.tools.values() for scope in tool.intent.scopes}
        )
        has_caller = self.runtime.settings.has_principal or self.framework.knows_callers
        if wanted and not has_caller:
            _log.warning(
                "nobody sees the tools that want the scopes %s, unless calls carry a token: "
                "on stdio there is none. Pass sayso.bind(…, principal=sayso.Principal(%r, "
                "scopes=frozenset(%r)))",
                ", ".join(wanted),
                LOCAL,
                wanted,
            )

    async def _take(self, entries: list[dict[str, Any]]) -> None:
        found = {
            entry["name"]: await self.framework.function_of(entry["name"]) for entry in entries
        }
        self.registry.take(entries, found)

    def _caller(self, ctx: Request | None = None) -> Principal:
        """Who calls: by the verified token where there is one, else as the author has said."""
        token = get_access_token()
        if token is None:
            client = self.principal.client if ctx is None else client_name(ctx)
            return replace(self.principal, client=client, is_local=True)
        return principal_of(token, self.tenant)

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments, where there is one that this caller may know of."""
        tool = self.registry.tools.get(name)
        if tool is None or self.runtime.sees(self._caller(), tool) is None:
            return None
        return tool.input_schema

    async def find(self, name: str, _principal: object, /, *, is_fresh: bool = False) -> Any:
        """The tool of this name.

        The framework is asked where it is not known, where it is another one by now, or to be sure;
        also where this caller may not know of it: how long an answer takes must not tell, either.
        """
        active = _active.get()
        if is_fresh or not await self._is_known(active.ctx, name):
            ctx = replace(active.ctx, method="tools/list", params=meta_only(active.ctx))
            await self._take((await _listed(ctx, active.then)).get("tools") or [])
        active.function = self.registry.found.get(name)
        return self.registry.tools.get(name)

    async def _is_known(self, ctx: Request, name: str) -> bool:
        tool = self.registry.tools.get(name)
        if tool is None or self.runtime.sees(self._caller(ctx), tool) is None:
            return False
        return await self.holds(name, self.registry.found.get(name))

    async def holds(self, name: str, function: Callable[..., Any] | None) -> bool:
        """Whether the tool of this name is still carried out by this function."""
        definition = self.registry.definitions.get(name)
        if definition is not None and definition.execute is not None:
            return True
        return is_same(await self.framework.function_of(name), function)

    async def run(self, call: "Call") -> "Answer":
        """Carry out one call: by its definition, or as the framework does."""
        from sayso.serve.execution import carry_out  # noqa: PLC0415 - for who calls

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
    """All tools that the framework has, whatever page was asked for: hiding needs them all."""
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
    """Return the caller that a verified token is for; `tenant` is the claim with its tenant.

    Raises `MCPError` if the token does not hold that claim.
    """
    roles: Any = (token.claims or {}).get("roles")
    held: list[Any] = []
    if isinstance(roles, str):
        held = [roles]
    elif isinstance(roles, list):
        held = cast("list[Any]", roles)
    return Principal(
        subject_of(token),
        client=token.client_id,
        scopes=frozenset(token.scopes),
        roles=frozenset(role for role in held if isinstance(role, str)),
        tenant=None if tenant is None else _tenant_of(token, tenant),
    )


def _tenant_of(token: AccessToken, claim: str) -> str:
    """Return the tenant that a claim of the token names; a token without it may call nothing."""
    tenant = (token.claims or {}).get(claim)
    if not isinstance(tenant, str) or not tenant.strip():
        raise MCPError(types.INVALID_REQUEST, "the token does not say for which tenant it is")
    return tenant


def subject_of(token: AccessToken) -> str:
    """Return whom a token is for, under a name that is neither a client's nor reserved."""
    if not token.subject:
        return f"client:{token.client_id}"
    if is_reserved(token.subject):
        return f"token:{token.subject}"
    return token.subject
