"""The door of a server: every list and every call of a tool goes through the guard.

One middleware for all three kinds of server, since each is the SDK's low-level server inside. The
SDK marks middleware as provisional: this file and `binding` are all that know of it.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import mcp_types as types
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError

from avow.approvals.elicitation import INPUT
from avow.errors import StoreError
from avow.guard import Answer, Call, UnknownToolError, tool_error
from avow.guard.call import CrashError, tool_changed
from avow.guard.steps.output import withheld
from avow.policy import LOCAL, Principal
from avow.serve.context import Context, Running, running
from avow.serve.definition import ToolDefinition
from avow.serve.engine import Engine
from avow.serve.exchange import (
    Request,
    as_object,
    client_name,
    dress,
    elicit_of,
    harmless,
    has_begun,
    meta_only,
    rounds_of,
)
from avow.serve.frameworks import Framework
from avow.serve.functions import is_on_purpose, is_same
from avow.serve.paging import CursorError, continued, opened
from avow.serve.results import agreed, as_answer, fitting, is_made
from avow.serve.shelf import Shelf
from avow.serve.values import ShapeError, to_json

_log: Final = logging.getLogger(__name__)

_OURS: Final = ("inputResponses", "requestState")


@dataclass(slots=True)
class Passing:
    """One request on its way, and the rest of the server's own chain.

    `function` is what the framework held for the tool when it was looked at last.
    """

    ctx: Request
    then: CallNext
    function: Callable[..., Any] | None = None


_passing: ContextVar[Passing] = ContextVar("avow_passing")


@dataclass(frozen=True, slots=True)
class Door:
    """The middleware. `principal` is who calls where no token says so."""

    shelf: Shelf
    framework: Framework
    principal: Principal
    engines: list[Engine] = field(default_factory=list[Engine])

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        is_ours = ctx.request_id is not None and ctx.method in ("tools/list", "tools/call")
        if not is_ours or not has_begun(ctx):
            return await call_next(harmless(ctx) if is_ours else ctx)
        token = _passing.set(Passing(ctx, call_next))
        try:
            if ctx.method == "tools/list":
                return await self._list(ctx, call_next)
            return await self._call(ctx)
        except UnknownToolError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        except StoreError as error:
            _log.error("%s", error)
            what = "Nothing was run: avow cannot write its log."
            raise MCPError(types.INTERNAL_ERROR, what) from None
        except MCPError:
            raise
        except Exception as error:  # the edge of a request: the client learns nothing of our inside
            incident = uuid.uuid4().hex[:12]
            _log.exception("incident %s", incident)
            what = f"Something went wrong inside avow (incident {incident})."
            raise MCPError(types.INTERNAL_ERROR, what) from error
        finally:
            _passing.reset(token)

    async def _list(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        result = await _listed(ctx, call_next)
        await self._take(result.get("tools") or [])
        guard, caller = self.engines[0].guard, self._caller(ctx)
        looked = [(one, guard.sees(caller, one)) for one in self.shelf.tools.values()]
        seen = [self.shelf.entry(one, found[0]) for one, found in looked if found is not None]
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
        answer = await self.engines[0].guard.call(
            self._caller(ctx),
            name,
            as_object(cast("object", arguments)),
            progress=ctx.session.report_progress,
            meta=as_object(params.get("_meta")) or None,
            elicit=elicit_of(ctx),
            rounds=rounds_of(ctx),
        )
        return dress(ctx, answer, self.framework.lowlevel)

    async def warn(self) -> None:
        """Tell the author, before anybody calls, what to declare and what nobody can see.

        Raises `UsageError` for what `declare` said and cannot be meant.
        """
        await self._take(await self.framework.entries())
        self.shelf.check()
        if lost := sorted(self.shelf.definitions.keys() - self.shelf.tools.keys()):
            _log.warning(
                "%s: declared, and not in the server's own list: nobody can call them. A transform "
                "that renames tools, or calls them by name, goes past avow",
                ", ".join(lost),
            )
        wanted = sorted({scope for one in self.shelf.tools.values() for scope in one.intent.scopes})
        has_caller = self.engines[0].settings.has_principal or self.framework.knows_callers
        if wanted and not has_caller:
            _log.warning(
                "nobody sees the tools that want the scopes %s, unless calls carry a token: "
                "on stdio there is none. Pass avow.bind(…, principal=avow.Principal(%r, "
                "scopes=frozenset(%r)))",
                ", ".join(wanted),
                LOCAL,
                wanted,
            )

    async def _take(self, entries: list[dict[str, Any]]) -> None:
        found = {one["name"]: await self.framework.function_of(one["name"]) for one in entries}
        self.shelf.take(entries, found)

    def _caller(self, ctx: Request | None = None) -> Principal:
        """Who calls: by the verified token where there is one, else as the author has said."""
        token = get_access_token()
        if token is None:
            client = self.principal.client if ctx is None else client_name(ctx)
            return replace(self.principal, client=client, is_local=True)
        roles: Any = (token.claims or {}).get("roles")
        roles = [roles] if isinstance(roles, str) else roles
        held = cast("list[Any]", roles if isinstance(roles, list) else [])
        return Principal(
            token.subject or token.client_id,
            client=token.client_id,
            scopes=frozenset(token.scopes),
            roles=frozenset(one for one in held if isinstance(one, str)),
        )

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments, where there is one that this caller may know of."""
        tool = self.shelf.tools.get(name)
        if tool is None or self.engines[0].guard.sees(self._caller(), tool) is None:
            return None
        return tool.input_schema

    async def find(self, name: str, /, *, is_fresh: bool = False) -> Any:
        """The tool of this name.

        The framework is asked where it is not known, where it is another one by now, or to be sure;
        also where this caller may not know of it: how long an answer takes must not tell, either.
        """
        passing = _passing.get()
        if is_fresh or not await self._is_known(passing.ctx, name):
            ctx = replace(passing.ctx, method="tools/list", params=meta_only(passing.ctx))
            await self._take((await _listed(ctx, passing.then)).get("tools") or [])
        passing.function = self.shelf.found.get(name)
        return self.shelf.tools.get(name)

    async def _is_known(self, ctx: Request, name: str) -> bool:
        tool = self.shelf.tools.get(name)
        if tool is None or self.engines[0].guard.sees(self._caller(ctx), tool) is None:
            return False
        return await self._holds(name, self.shelf.found.get(name))

    async def _holds(self, name: str, function: Callable[..., Any] | None) -> bool:
        """Whether the tool of this name is still carried out by this function."""
        definition = self.shelf.definitions.get(name)
        if definition is not None and definition.execute is not None:
            return True
        return is_same(await self.framework.function_of(name), function)

    async def run(self, call: Call) -> Answer:
        """Carry out one call, from where its cursor leads."""
        definition = self.shelf.definitions.get(call.name)
        shape, asked = self.engines[0].guard.shapes.of(call.found), call.arguments
        is_ours = definition is not None and definition.has_cursor
        call.resume = None
        try:
            place, call.arguments = opened(call, shape, is_ours=is_ours)
            return continued(call, place, await self._run(call, definition), shape)
        except CursorError as error:
            return tool_error(str(error))
        finally:
            call.arguments = asked

    async def _run(self, call: Call, definition: ToolDefinition | None) -> Answer:
        """Carry out one call: by its definition, or as the framework does."""
        function = _passing.get().function
        if not await self._holds(call.name, function):
            return tool_changed(call)
        call.is_sent = True
        now = Running(call, self.framework.told, function)
        token = running.set(now)
        try:
            if definition is not None and definition.execute is not None:
                answer = await _execute(definition.execute, call)
            else:
                answer = await self._pass(call, now)
            return _structured(call, answer)
        except ShapeError as error:
            # The value itself is the author's data: neither the model nor the log gets it.
            _log.warning("%s: %s", call.name, error)
            return withheld(call)
        finally:
            running.reset(token)

    async def _pass(self, call: Call, now: Running) -> Answer:
        passing = _passing.get()
        params = {**as_object(passing.ctx.params), "arguments": dict(call.arguments)}
        if INPUT in as_object(params.get("inputResponses")):
            params = {key: one for key, one in params.items() if key not in _OURS}
        answer = await _answered(Passing(replace(passing.ctx, params=params), passing.then))
        if now.crash is not None:
            raise CrashError from now.crash
        if isinstance(now.said, ShapeError):
            raise now.said
        if now.said is not None:
            return tool_error(str(now.said))
        if now.returned is None:
            return fitting(to_json(answer))
        (value,) = now.returned
        if answer.get("isError") is True and not is_made(value):
            raise ShapeError("what the tool returned does not fit its type")
        return agreed(answer, value)


async def _answered(passing: Passing) -> Answer:
    """What the framework answers. An author's type may raise what no server survives."""
    try:
        return _wire(await passing.then(passing.ctx))
    except MCPError as error:
        return tool_error(str(error))
    except (Exception, asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        raise CrashError from error


def _structured(call: Call, answer: Answer) -> Answer:
    """`answer`, which has a structure where its tool promised one (MCP, structured content)."""
    is_over = answer.get("resultType", "complete") == "complete" and not answer.get("isError")
    if is_over and "outputSchema" in call.found.raw and answer.get("structuredContent") is None:
        raise ShapeError("the tool has an output schema, and returned nothing structured")
    return answer


async def _execute(execute: Any, call: Call) -> Answer:
    try:
        return await as_answer(execute, Context(call))
    except ShapeError:
        raise
    except Exception as error:
        if is_on_purpose(error):
            return tool_error(str(error))
        raise CrashError from error


async def _listed(ctx: Request, then: CallNext) -> dict[str, Any]:
    """All tools that the framework has, whatever page was asked for: hiding needs them all."""
    entries: list[dict[str, Any]] = []
    params: Mapping[str, Any] | None = {
        key: one for key, one in as_object(ctx.params).items() if key != "cursor"
    } or None
    while True:
        page = _wire(await then(replace(ctx, method="tools/list", params=params)))
        entries += cast("list[dict[str, Any]]", page.get("tools") or [])
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return {**page, "tools": entries}
        params = {**as_object(params), "cursor": cursor}


def _wire(result: HandlerResult) -> dict[str, Any]:
    if result is None or isinstance(result, dict):
        return result or {}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)
