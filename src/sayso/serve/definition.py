"""A tool's definition as data: name, intent, schemas and handler."""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from sayso.catalog import derive_title
from sayso.errors import UsageError
from sayso.intent import Intent, contradictions, declare
from sayso.schema import Checker, is_switch
from sayso.serve.exchange import as_object
from sayso.serve.handler import as_execute, check_result
from sayso.serve.validation import build_intent

if TYPE_CHECKING:
    from sayso.serve.call_context import Context

Execute = Callable[["Context", Mapping[str, Any]], Awaitable[Any] | Any]
"""A function that executes a call from the context and the arguments, which fit the schema."""

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_FIELD: Final = re.compile(r"\{([^{}]*)\}")
_OBJECT: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, init=False)
class ToolDefinition:
    """A declared tool.

    Declare its effect with an `intent`, with hints, or with both; hints override the intent's.
    Omitted hints have the specification's defaults, and only given hints can contradict each other.
    `annotations` and MCP's own names (`readOnlyHint`) are accepted as well.

    `handler` executes a call and may be `async`. Its parameters are the arguments by name, or one
    mapping of them, or a `Context` (named `ctx` or `context`, or annotated), or both, or none.
    `execute` is a function of context and arguments, or `None` if a framework has the function.
    With `has_cursor`, sayso handles the argument `cursor` and does not pass it on. Creating an
    invalid definition raises `UsageError`.

    >>> tool = ToolDefinition(
    ...     name="customer_delete",
    ...     description="Delete a customer.",
    ...     input_schema={"type": "object", "properties": {"customer_id": {"type": "string"}}},
    ...     handler=lambda customer_id: f"{customer_id} is gone",
    ...     destructive_hint=True,
    ...     tags=["crm", "billing"],
    ... )
    >>> tool.to_mcp_schema()["annotations"]["readOnlyHint"], tool.tags
    (False, ('crm', 'billing'))
    """

    name: str
    intent: Intent
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    execute: Execute | None
    has_cursor: bool
    parameters: frozenset[str]
    tags: tuple[str, ...]

    def __init__(  # noqa: PLR0913 - one for each part of a tool
        self,
        name: str,
        intent: Intent | None = None,
        description: str = "",
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        execute: Execute | None = None,
        has_cursor: bool = False,  # noqa: FBT001, FBT002 - positional for compatibility
        *,
        handler: Callable[..., Any] | None = None,
        tags: Iterable[str] | None = None,
        **fields: Any,
    ) -> None:
        where = f"tool {name}"
        check_name(name)
        schema = _OBJECT
        if input_schema is not None:
            schema = as_schema(name, input_schema)
        for part in (schema, output_schema):
            if part is not None:
                _check_schema(name, part)
        known = frozenset(cast("Mapping[str, Any]", schema.get("properties", {})))
        given = dict(fields)
        if tags is not None:
            given["tags"] = _listed(tags, where=where)
        made = build_intent(intent, given, where=where, how="read_only_hint=True")
        check_intent(name, made, known)
        check_dry_run(name, made, schema)
        if handler is not None:
            if execute is not None:
                raise UsageError("give a handler or execute, not both", where=where)
            execute = as_execute(handler, known, where=where)
        values = {
            "name": name,
            "intent": made,
            "description": description,
            "input_schema": schema,
            "output_schema": output_schema,
            "execute": execute,
            "has_cursor": has_cursor,
            "parameters": known,
            "tags": _in_order(given.get("tags"), made.tags),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def title(self) -> str:
        return self.intent.title or derive_title(self.name)

    @property
    def category(self) -> str | None:
        return self.intent.category

    @property
    def read_only_hint(self) -> bool:
        """The read-only hint, or the specification's default if it is unset."""
        return bool(self.intent.hints.with_defaults().read_only)

    @property
    def destructive_hint(self) -> bool:
        return bool(self.intent.hints.with_defaults().destructive)

    @property
    def idempotent_hint(self) -> bool:
        return bool(self.intent.hints.with_defaults().idempotent)

    @property
    def open_world_hint(self) -> bool:
        return bool(self.intent.hints.with_defaults().open_world)

    def to_mcp_schema(self, version: str = "2026-07-28") -> dict[str, Any]:
        """Return the tool's entry in `tools/list`; `annotations` have all four hints and the title.

        A confirmation text with a field of the plan is left out, because clients have no plan.
        """
        raw: dict[str, Any] = {"name": self.name, "inputSchema": dict(self.input_schema)}
        if self.description:
            raw["description"] = self.description
        if self.output_schema is not None:
            raw["outputSchema"] = dict(self.output_schema)
        return declare(raw, public(self.intent, raw).but(title=self.title), version=version)


def _listed(tags: Iterable[str], *, where: str) -> tuple[str, ...]:
    if isinstance(tags, str):
        what = f"tags must be a list of strings, got {tags!r}"
        raise UsageError(what, where=where)
    return tuple(tags)


def _in_order(tags: Iterable[str] | None, all_tags: frozenset[str]) -> tuple[str, ...]:
    """Return all tags without duplicates: `tags` in their order, then the others sorted."""
    if tags is None or isinstance(tags, frozenset | set):
        return tuple(sorted(all_tags))
    named = tuple(dict.fromkeys(tags))
    return (*named, *sorted(all_tags - set(named)))


def public(intent: Intent, raw: Mapping[str, Any]) -> Intent:
    """Return the intent for clients, without a confirmation text that needs the plan."""
    known = as_object(as_object(raw.get("inputSchema")).get("properties"))
    if intent.confirm is None or not _unknown_in(intent.confirm, frozenset(known)):
        return intent
    return intent.but(confirm=None)


def check_name(name: str) -> None:
    """Raise `UsageError` if MCP does not allow this tool name."""
    if not _NAME.fullmatch(name):
        what = f"{name!r} is not a valid tool name"
        raise UsageError(what, fix="Use 1 to 128 letters, digits, and _ - . (MCP, tool names).")


def as_schema(name: str, schema: object) -> Mapping[str, Any]:
    """Return an author's schema; for `None`, one without properties. Raises `UsageError`."""
    if schema is None:
        return _OBJECT
    if not isinstance(schema, Mapping):
        what = f"a schema must be an object, got a {type(schema).__name__}"
        raise UsageError(what, where=f"tool {name}", fix="For a model: Model.model_json_schema().")
    return cast("Mapping[str, Any]", schema)


def check_execute(execute: object, name: str) -> None:
    """Raise `UsageError` unless `execute` takes a context and arguments."""
    what = f"execute must be a function of (ctx, arguments), not {execute!r}"
    if not callable(execute) or isinstance(execute, type):
        raise UsageError(what, where=f"tool {name}")
    try:
        inspect.signature(execute).bind(None, {})
    except (TypeError, ValueError) as error:
        raise UsageError(what, where=f"tool {name}") from error
    check_result(execute, f"tool {name}")


def check_alone(intent: Intent, where: str) -> None:
    """Raise `UsageError` for an intent that is invalid for every tool."""
    for finding in contradictions(intent):
        raise UsageError(finding.message, where=where)
    if intent.otherwise is not None and intent.when is None:
        raise UsageError("otherwise requires when", where=where)
    if intent.plan is not None and intent.dry_run is not None:
        raise UsageError("give plan or dry_run, not both", where=where)
    for name, function in _functions(intent):
        _parameters(function, name, where)


def check_intent(name: str, intent: Intent, known: frozenset[str]) -> None:
    """Raise `UsageError` for an intent that is invalid for a tool with these arguments."""
    where = f"tool {name}"
    check_alone(intent, where)
    check_functions(name, intent, known)
    # The fields of a plan are unknown here. So check the template only if there is no plan.
    if intent.confirm is not None and intent.plan is None and intent.dry_run is None:
        _check_template(where, intent.confirm, known)


def check_dry_run(name: str, intent: Intent, schema: object) -> None:
    """Raise `UsageError` unless `dry_run` names a boolean parameter of the tool."""
    if intent.dry_run is not None and not is_switch(schema, intent.dry_run):
        what = f"dry_run names {intent.dry_run!r}, which is not a boolean parameter of the tool"
        fix = f"Add the parameter {intent.dry_run}: bool = False."
        raise UsageError(what, where=f"tool {name}", fix=fix)


def check_functions(name: str, intent: Intent, known: frozenset[str]) -> None:
    """Raise `UsageError` if plan, narrow or when require a parameter that the tool lacks."""
    for field_name, function in _functions(intent):
        _check_parameters(f"tool {name}", field_name, function, known)


def _functions(intent: Intent) -> list[tuple[str, Any]]:
    functions = [(name, getattr(intent, name)) for name in ("plan", "narrow", "when")]
    return [(name, function) for name, function in functions if function is not None]


def _check_schema(name: str, schema: Mapping[str, Any]) -> None:
    as_schema(name, schema)
    try:
        Checker(schema)
    except UsageError as error:
        raise UsageError(error.what, where=f"tool {name}") from error
    if schema.get("type") != "object":
        raise UsageError('a schema must have "type": "object"', where=f"tool {name}")


def _parameters(function: object, field_name: str, where: str) -> Mapping[str, inspect.Parameter]:
    if not callable(function):
        raise UsageError(f"{field_name} must be a function, not {function!r}", where=where)
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise UsageError(f"the parameters of {function!r} cannot be read", where=where) from error


def _check_parameters(
    where: str, field_name: str, function: Callable[..., Any], known: frozenset[str]
) -> None:
    for name, parameter in _parameters(function, field_name, where).items():
        is_needed = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        )
        if is_needed and name not in known | {"arguments"}:
            called = getattr(function, "__name__", field_name)
            what = f"{called} requires {name!r}, which is not an argument of the tool"
            raise UsageError(
                what, where=where, fix=f"The tool has: {', '.join(sorted(known)) or 'none'}."
            )


def _check_template(where: str, template: str, known: frozenset[str]) -> None:
    for name in _unknown_in(template, known):
        what = f"confirm names {{{name}}}, which is not an argument of the tool"
        fix = "Name an argument, or give a plan that has this field."
        raise UsageError(what, where=where, fix=fix)


def _unknown_in(template: str, known: frozenset[str]) -> list[str]:
    return [path for path in _FIELD.findall(template) if path.partition(".")[0] not in known]
