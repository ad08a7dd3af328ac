"""Assertions about the declarations of a server's tools."""

from collections.abc import Mapping
from typing import Final

from sayso.catalog import Tool, derive_title
from sayso.errors import UsageError
from sayso.intent import (
    DEFAULTS,
    HINT_NAMES,
    WIRE_NAMES,
    Evidence,
    HintName,
    Intent,
    Level,
    Resolved,
    Source,
    Trust,
    as_code,
    read_tool,
    required_hints,
    resolve,
)
from sayso.testing.advice import how, suggested
from sayso.testing.listing import Surface, likely, surface_of

_FIELDS: Final = ("title", "category", "tags", "scopes", "roles", "confirm", "grant")
_BY_LEVEL: Final = {Level.READ: "READ_ONLY", Level.WRITE: "WRITE", Level.DESTRUCTIVE: "DELETE"}


def assert_annotated(server: object) -> None:
    """Assert that every tool has a title and declares all required hints as booleans.

    Required are all four; for a tool that only reads, `readOnlyHint` and `openWorldHint`. Raises
    `AssertionError` with each tool and a suggested declaration.

    >>> from mcp.server import MCPServer
    >>> import sayso
    >>> server = MCPServer("crm")
    >>> tools = sayso.bind(server)
    >>> @tools.tool(sayso.READ_ONLY)
    ... def customers_list() -> list[str]:
    ...     return ["Ann"]
    >>> assert_annotated(server)
    """
    __tracebackhide__ = True
    surface = surface_of(server, where="assert_annotated")
    lines = [*surface.problems]
    count = 0
    for tool in surface.tools:
        if faults := _faults(tool, is_bound=surface.is_bound):
            count += 1
            lines += [tool.name, *(f"  {line}" for line in faults)]
    if lines:
        head = f"{surface.name}: {count} of {len(surface.tools)} tools are not fully declared"
        raise AssertionError("\n  ".join([head, *lines]))


def assert_preset(server: object, presets: Mapping[str, Intent], *, exact: bool = False) -> None:
    """Assert that each tool in `presets` declares the hints of its preset.

    Other fields of an intent (`sayso.DELETE.but(scopes={"crm.write"})`) must match too. With
    `exact`, all tools must be named. Raises `AssertionError`, and `UsageError` for an unknown tool.

    >>> from mcp.server import MCPServer
    >>> import sayso
    >>> server = MCPServer("crm")
    >>> @sayso.bind(server).tool(sayso.DELETE)
    ... def customer_delete(customer_id: int) -> str:
    ...     return f"deleted {customer_id}"
    >>> assert_preset(server, {"customer_delete": sayso.DELETE})
    """
    __tracebackhide__ = True
    surface = surface_of(server, where="assert_preset")
    lines: list[str] = []
    for name, expected in presets.items():
        if not isinstance(expected, Intent):  # pyright: ignore[reportUnnecessaryIsInstance] - tests are seldom typed
            what = f"{expected!r} is not a preset"
            fix = "Use a preset such as sayso.DELETE."
            raise UsageError(what, where=f"assert_preset, {name}", fix=fix)
        lines += _differences(surface.tool(name), expected, is_bound=surface.is_bound)
    _fail(surface, [*lines, *_unnamed(surface, presets, exact=exact)], "not declared as expected")


def assert_level(
    server: object,
    levels: Mapping[str, str],
    *,
    trust: str | None = None,
    exact: bool = False,
) -> None:
    """Assert that each tool in `levels` has its level: `"read"`, `"write"` or `"destructive"`.

    The level follows from the server's declarations and the specification's defaults. With a
    `trust` such as `"cautious"`, it is the level for an operator with that trust, who also infers
    from names and texts. With `exact`, all tools must be named. Raises `AssertionError`, and
    `UsageError` for an unknown level or tool.

    >>> from mcp.server import MCPServer
    >>> import sayso
    >>> server = MCPServer("crm")
    >>> @sayso.bind(server).tool(sayso.DELETE)
    ... def customer_delete(customer_id: int) -> str:
    ...     return f"deleted {customer_id}"
    >>> assert_level(server, {"customer_delete": "destructive"})
    """
    __tracebackhide__ = True
    surface = surface_of(server, where="assert_level")
    lines: list[str] = []
    for name, word in levels.items():
        tool = surface.tool(name)
        expected = _level(word, name)
        lines += _level_faults(tool, expected, None if trust is None else _trust(trust))
    _fail(surface, [*lines, *_unnamed(surface, levels, exact=exact)], "not of the expected level")


def _fail(surface: Surface, lines: list[str], what: str) -> None:
    __tracebackhide__ = True
    if lines:
        raise AssertionError("\n  ".join([f"{surface.name}: tools are {what}", *lines]))


def _unnamed(surface: Surface, named: Mapping[str, object], *, exact: bool) -> list[str]:
    if not exact:
        return []
    left = [tool.name for tool in surface.tools if tool.name not in named]
    return [f"{name}: not named by the test, which is exact" for name in left]


def _faults(tool: Tool, *, is_bound: bool) -> list[str]:
    # Read from the raw tool: a finding says more than “not declared”.
    declared = read_tool(tool.raw)
    invalid = {
        finding.hint for finding in declared.findings if finding.code == "hint-not-a-boolean"
    }
    lines = [
        f"{WIRE_NAMES[name]} is not declared"
        for name in required_hints(is_read=bool(declared.intent.hints.read_only))
        if declared.intent.hints[name] is None and name not in invalid
    ]
    lines += [f"{finding.message} [{finding.code}]" for finding in declared.findings]
    title = declared.intent.title
    if title is None:
        lines.append("it has no title")
    if not lines:
        return []
    known = title or derive_title(tool.name)
    return [*lines, suggested(tool, title=known, is_bound=is_bound)]


def _differences(tool: Tool, expected: Intent, *, is_bound: bool) -> list[str]:
    actual = read_tool(tool.raw).intent
    hints = [
        f"{WIRE_NAMES[name]} is {_said(actual.hints[name])}, expected {_json(expected.hints[name])}"
        for name in HINT_NAMES
        if expected.hints[name] is not None and actual.hints[name] is not expected.hints[name]
    ]
    fields = [
        f"{name} is {_shown(getattr(actual, name))}, expected {_shown(getattr(expected, name))}"
        for name in _FIELDS
        if getattr(expected, name) and getattr(expected, name) != getattr(actual, name)
    ]
    lines = [*hints, *fields]
    if hints:
        advice = how(expected, is_bound=is_bound)
        if actual.hints.is_complete:
            advice += f" (now {as_code(actual.hints)})"
        lines.append(advice)
    if not lines:
        return []
    return [tool.name, *(f"  {line}" for line in lines)]


def _level_faults(tool: Tool, expected: Level, trust: Trust | None) -> list[str]:
    declared = read_tool(tool.raw).intent.hints
    evidence = Evidence(declared, tool.inferred) if trust else Evidence(declared)
    actual = resolve(evidence, trust or Trust.TRUSTED)
    if actual.level is expected:
        return []
    names: list[HintName] = ["read_only"]
    if not actual.read_only.value:
        names.append("destructive")
    reasons = [
        f"{WIRE_NAMES[name]} is {_json(actual[name].value)}: {_why(tool, name, actual[name])}"
        for name in names
    ]
    write = f"if it is {expected}, declare it as sayso.{_BY_LEVEL[expected]}, or with its hints"
    head = f"{tool.name}: level {actual.level}, expected {expected}"
    return [head, *(f"  {line}" for line in [*reasons, write])]


def _why(tool: Tool, name: HintName, resolved: Resolved) -> str:
    declared = read_tool(tool.raw).intent.hints[name]
    match resolved.source:
        case Source.INFERRED if declared is None:
            return "inferred from its name and texts"
        case Source.INFERRED:
            return f"inferred from its name and texts, though it declares {_json(declared)}"
        case Source.DEFAULT if declared is None:
            return "not declared, so the specification's default applies"
        case Source.DEFAULT:
            return f"it declares {_json(declared)}, which does not count at this trust level"
        case _:
            return "declared"


def _level(word: str, name: str) -> Level:
    if word in tuple(Level):
        return Level(word)
    fix = likely(str(word), Level) or f"Choose {', '.join(Level)}."
    raise UsageError(f"unknown level {word!r}", where=f"assert_level, {name}", fix=fix)


def _trust(word: str) -> Trust:
    if word in tuple(Trust):
        return Trust(word)
    fix = f"Choose {', '.join(Trust)}."
    raise UsageError(f"unknown trust level {word!r}", where="assert_level", fix=fix)


def _said(value: bool | None) -> str:  # noqa: FBT001 - the value of a hint
    return "not declared" if value is None else f"declared {_json(value)}"


def _json(value: bool | None) -> str:  # noqa: FBT001 - as above
    return str(DEFAULTS["read_only"] if value is None else value).lower()


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "empty"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - of texts
    return "not declared" if value is None else repr(str(value))
