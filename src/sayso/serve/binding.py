"""Binding of declared tools to a server."""

import contextlib
import inspect
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack

from sayso.errors import UsageError
from sayso.intent import READ_ONLY, Intent, Span, in_own_words
from sayso.policy import LOCAL, Principal
from sayso.serve.definition import (
    Execute,
    ToolDefinition,
    as_schema,
    check_alone,
    check_execute,
    check_functions,
)
from sayso.serve.frameworks import Framework, Shape, framework_of
from sayso.serve.functions import by_name, wrap_function
from sayso.serve.middleware import Middleware
from sayso.serve.return_types import with_cursor
from sayso.serve.runtime import Rules, Runtime, Settings
from sayso.serve.tool_registry import DECLARED, ToolRegistry
from sayso.serve.validation import build_intent, check_choices, check_scopes

if TYPE_CHECKING:
    from sayso.approvals import Approvals, Channel

LOCAL_CONSOLE: Final = "http://127.0.0.1:8321/console/"
"""The default address of the console of a gateway on this machine."""

F = TypeVar("F", bound=Callable[..., Any])


class Fields(TypedDict, total=False):
    """The fields of an `Intent` that can be declared. Hints may have their MCP names."""

    annotations: object
    readOnlyHint: bool
    destructiveHint: bool
    idempotentHint: bool
    openWorldHint: bool
    read_only_hint: bool
    destructive_hint: bool
    idempotent_hint: bool
    open_world_hint: bool
    title: str
    category: str
    tags: Collection[str]
    scopes: Collection[str]
    roles: Collection[str]
    confirm: str
    grant: Span
    on_error: str
    plan: Callable[..., Any]
    narrow: Callable[..., Any]
    when: Callable[..., Any]
    otherwise: str


_SETS = ("tags", "scopes", "roles")


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one server, or a group of them with common fields."""

    framework: Framework
    registry: ToolRegistry
    common: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runtime: Runtime | None = field(default=None, repr=False)

    @property
    def approvals(self) -> "Approvals":
        """The questions to people. Raises `UsageError` while the server does not run."""
        if self.runtime is None:
            raise UsageError("these tools are not bound to a server", fix="sayso.bind(server)")
        return self.runtime.approvals

    @property
    def definitions(self) -> list[ToolDefinition]:
        return list(self.registry.definitions.values())

    def tool(
        self,
        intent: Intent | None = None,
        *,
        name: str | None = None,
        description: str | None = None,
        dry_run: bool | str = False,
        **fields: Unpack[Fields],
    ) -> Callable[[F], F]:
        """Declare a typed function as a tool. The schemas are made from its signature.

        `dry_run="dryRun"` names a boolean argument; a call with it only reports what would change.
        Before sayso asks a person about a call, it makes the call with this argument, and shows the
        result as the plan. With `dry_run=True`, a call with a true argument `dry_run` is a read.
        Raises `UsageError` for an invalid declaration, such as a taken name or an unknown scope.
        """
        if callable(intent):
            # `@tools.tool` without parentheses passes the function here, where it would be lost.
            self._intent(getattr(intent, "__name__", "?"), intent, fields)

        def declared(function: F) -> F:
            known = getattr(function, "__name__", "") if name is None else name
            made = _dry(self._intent(known, intent, fields), dry_run, where=f"tool {known}")
            self.registry.check_name(known)
            kept = wrap_function(function, known, is_bound=True)
            shape = self._shape(kept, known, description or inspect.getdoc(function))
            try:
                definition = _definition(known, made, shape, dry_run=dry_run is True)
            except UsageError:
                self.framework.remove(known)
                raise
            self.registry.add(definition, shape.function)
            return function

        return declared

    def _shape(self, function: Callable[..., Any], name: str, text: str | None) -> Shape:
        try:
            return self.framework.add(function, name, text)
        except UsageError:
            raise
        except Exception as error:  # each framework has its own errors
            why, *_ = str(error).splitlines() or [type(error).__name__]
            what = f"the function's types cannot be converted to a schema: {why}"
            raise UsageError(what, where=f"tool {name}") from error

    def add(
        self,
        definition: ToolDefinition | None = None,
        /,
        *,
        name: str = "",
        intent: Intent | None = None,
        execute: Execute | None = None,
        description: str = "",
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        dry_run: str | None = None,
        **fields: Unpack[Fields],
    ) -> "Tools":
        """Declare a tool as data, and return these tools, so that calls can be chained.

        Pass a `ToolDefinition` with a handler, or its parts. `execute` gets the call's `Context`
        and its arguments. Raises `UsageError` as `tool` does, or if a schema's type is not object.
        """
        if definition is not None:
            return self._add_defined(definition)
        self.registry.check_name(name)
        schema = dict(as_schema(name, input_schema))
        schema.setdefault("additionalProperties", False)
        made = _dry(self._intent(name, intent, fields), dry_run, where=f"tool {name}")
        check_execute(execute, name)
        self.registry.add(ToolDefinition(name, made, description, schema, output_schema, execute))
        return self

    def _add_defined(self, definition: ToolDefinition) -> "Tools":
        if definition.execute is None:
            fix = "Pass handler=…"
            raise UsageError("a handler is required", where=f"tool {definition.name}", fix=fix)
        self.registry.check_name(definition.name)
        made = self._intent(definition.name, definition.intent, {})
        schema = {"additionalProperties": False, **definition.input_schema}
        parts = (definition.description, schema, definition.output_schema, definition.execute)
        self.registry.add(ToolDefinition(definition.name, made, *parts))
        return self

    def group(self, **fields: Unpack[Fields]) -> "Tools":
        """Return a group of these tools; tools that are declared with the group get the fields.

        Raises `UsageError` for an unknown field or scope.
        """
        merged = _merged(self.common, fields)
        made = build_intent(None, merged, where="group", how="tools.group(category=…)")
        check_scopes(made, self.registry.scopes, where="group")
        return replace(self, common=merged)

    def _intent(self, name: str, intent: Intent | None, fields: Fields) -> Intent:
        merged = _merged(self.common, fields)
        where = f"tool {name}"
        made = build_intent(intent, merged, where=where, how="@tools.tool(sayso.READ_ONLY)")
        check_scopes(made, self.registry.scopes, where=where)
        return made


def _dry(intent: Intent, parameter: bool | str | None, *, where: str) -> Intent:  # noqa: FBT001 - what `dry_run` was given
    if parameter is None or isinstance(parameter, bool):
        return intent
    try:
        return intent.but(dry_run=parameter)
    except UsageError as error:
        raise UsageError(error.what, where=where) from error


def _merged(common: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return `common` overridden by `fields`, with sets joined. Raises `UsageError`."""
    fields = in_own_words(fields, where="the tool's intent")
    Intent().but(**{name: fields[name] for name in _SETS if name in fields})
    merged = {**common, **fields}
    for name in _SETS:
        if name in merged:
            merged[name] = frozenset(common.get(name, ())) | frozenset(fields.get(name, ()))
    return merged


def _definition(name: str, intent: Intent, shape: Shape, *, dry_run: bool) -> ToolDefinition:
    schema = {**shape.input_schema, "additionalProperties": False}
    if dry_run:
        check_functions(name, intent, frozenset(shape.input_schema.get("properties", {})))
        intent = _with_dry_run(name, intent, schema)
    result = shape.output_schema
    paged = with_cursor(intent, schema, shape.output_schema)
    if paged is not None:
        schema, result = paged
    has_cursor = paged is not None
    return ToolDefinition(
        name, intent, shape.description, schema, result, shape.execute, has_cursor
    )


def _with_dry_run(name: str, intent: Intent, schema: Mapping[str, Any]) -> Intent:
    if schema.get("properties", {}).get("dry_run", {}).get("type") != "boolean":
        what = "dry_run=True needs a boolean argument dry_run"
        raise UsageError(what, where=f"tool {name}")
    own = by_name(intent.narrow)

    def narrow(arguments: Mapping[str, Any]) -> Any:
        if arguments.get("dry_run") is True:
            return READ_ONLY.but(open_world=intent.hints.open_world)
        if own is None:
            return None
        return own(arguments)

    return intent.but(narrow=narrow)


def declare(
    intent: Intent, *, dry_run: str | None = None, **fields: Unpack[Fields]
) -> Callable[[F], F]:
    """Declare a function that another decorator registers; put this decorator below the other.

    The declaration takes effect when `bind` is called on the server. Raises `UsageError` for an
    invalid declaration. Scopes and references to arguments are checked when the server starts.
    """
    how = "@sayso.declare(sayso.READ_ONLY)"
    where = "declare"
    if callable(intent):
        where = f"tool {getattr(intent, '__name__', '?')}"
    made = _dry(
        build_intent(intent, _merged({}, fields), where=where, how=how), dry_run, where=where
    )
    check_alone(made, where)

    def declared(function: F) -> F:
        kept = wrap_function(function)
        setattr(kept, DECLARED, made)
        if inspect.isfunction(function):
            # The registering decorator may be below this one, contrary to the documentation.
            setattr(function, DECLARED, made)
        return kept

    return declared


def bind(  # noqa: PLR0913 - each is a choice of its own, with a default
    server: object,
    *,
    policy: Rules = None,
    store: str = "",
    principal: Principal | None = None,
    scopes: Collection[str] | None = None,
    tenant: str | None = None,
    console: str | bool | None = None,
    channels: "Sequence[Channel]" = (),
    patience: float = 45.0,
    asks: bool = True,
    infer: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> Tools:
    """Put sayso's guard in front of all tools of `server`, and return the `Tools` to declare them.

    `server` is an `MCPServer`, a low-level `Server` or a `FastMCP`. `principal` is the caller if
    there is no token, as on stdio; the default has no scopes. `scopes` are all known scopes; tools
    with other scopes are refused. `tenant` is the token claim with the caller's tenant, such as
    `"tid"`; a token without this claim is refused. `store` has the records and approvals;
    `"temporary"` deletes them when the server ends. With `asks=False`, a gateway in front asks: a
    call that needs approval runs here, and its record says so. `infer` applies hints inferred from
    names and texts to tools that declare nothing.

    `console` is the address where people answer, at `approvals/NUMBER` below it. `True` means the
    console of a gateway on this machine with the same store (`http://127.0.0.1:8321/console/`).
    `channels` are other ways to reach people. Without `console`, `channels` and `policy`, the
    client asks its user (elicitation). That is weaker, because some clients answer themselves.

    Raises `UsageError` and `PolicyError`.
    """
    check_choices(principal, policy, store, patience)
    framework = framework_of(server)
    lowlevel = framework.lowlevel
    if any(isinstance(middleware, Middleware) for middleware in lowlevel.middleware):
        raise UsageError("sayso is already bound to this server", where=lowlevel.name)
    known = None if scopes is None else Intent().but(scopes=scopes).scopes
    registry = ToolRegistry(lowlevel.name, infer=infer, scopes=known)
    has_principal = principal is not None
    place = LOCAL_CONSOLE if console is True else console or None
    settings = Settings(policy, store, place, channels, patience, asks, announce, has_principal)
    caller = principal or Principal(LOCAL, scopes=frozenset())
    middleware = Middleware(registry, framework, caller, tenant)
    runtime = Runtime(settings, middleware.find, middleware.run)
    middleware.runtime = runtime
    lowlevel.middleware.insert(0, middleware)
    # The SDK would list all tools before each HTTP call with arguments; the frameworks' own
    # functions check headers against tools that this caller may not see.
    lowlevel.get_tool_input_schema = middleware.input_schema
    _open_with(lowlevel, runtime, middleware)
    return Tools(framework, registry, runtime=runtime)


def _open_with(lowlevel: Any, runtime: Runtime, middleware: Middleware) -> None:
    own = lowlevel.lifespan

    @contextlib.asynccontextmanager
    async def lifespan(server: Any) -> AsyncGenerator[Any]:
        async with runtime.opened(), own(server) as state:
            await middleware.warn()
            yield state

    lowlevel.lifespan = lifespan
