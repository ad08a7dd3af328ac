"""What a server declares, held against what a test expects of it."""

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
from sayso.testing.surface import Surface, likely, surface_of

_FIELDS: Final = ("title", "category", "tags", "scopes", "roles", "confirm", "grant")
_BY_LEVEL: Final = {Level.READ: "READ_ONLY", Level.WRITE: "WRITE", Level.DESTRUCTIVE: "DELETE"}


def assert_annotated(server: object) -> None:
    """Every tool declares the hints it must as booleans and has a title, and nothing is wrong.

    These are all four; of a tool that only reads, `readOnlyHint` and `openWorldHint`.

    Raises `AssertionError` that names each tool with what to write.

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
    found = [(tool, _unsaid(tool, is_bound=surface.is_bound)) for tool in surface.tools]
    lines = [*surface.problems]
    for tool, wrong in found:
        if wrong:
            lines += [tool.name, *(f"  {line}" for line in wrong)]
    if lines:
        count = sum(bool(wrong) for _, wrong in found)
        head = f"{surface.name}: {count} of {len(found)} tools are not declared in full"
        raise AssertionError("\n  ".join([head, *lines]))


def assert_preset(server: object, presets: Mapping[str, Intent], *, exact: bool = False) -> None:
    """Each tool that `presets` names declares the hints of its preset.

    What else an intent says (`sayso.DELETE.but(scopes={"crm.write"})`) is expected as well. With
    `exact`, every tool is to be named. Raises `AssertionError`, and `UsageError` for the name of a
    tool that is not there.

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
            what = f"{expected!r} is no preset"
            raise UsageError(what, where=f"assert_preset, {name}", fix="Give sayso.DELETE, say.")
        lines += _unlike(surface.tool(name), expected, is_bound=surface.is_bound)
    _fail(surface, [*lines, *_unnamed(surface, presets, exact=exact)], "not declared as expected")


def assert_level(
    server: object,
    levels: Mapping[str, str],
    *,
    trust: str | None = None,
    exact: bool = False,
) -> None:
    """Each tool that `levels` names has its level: `"read"`, `"write"` or `"destructive"`.

    That is the level by what the server declares, with the specification's defaults for the rest.
    With a `trust` such as `"cautious"`, it is the level that counts for an operator who trusts the
    server so far: names and texts then speak, too. With `exact`, every tool is to be named. Raises
    `AssertionError`, and `UsageError` for a word that is no level or names no tool.

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
        lines += _of_another_level(tool, expected, None if trust is None else _trust(trust))
    _fail(surface, [*lines, *_unnamed(surface, levels, exact=exact)], "not of the expected level")


def _fail(surface: Surface, lines: list[str], what: str) -> None:
    __tracebackhide__ = True
    if lines:
        raise AssertionError("\n  ".join([f"{surface.name}: tools are {what}", *lines]))


def _unnamed(surface: Surface, named: Mapping[str, object], *, exact: bool) -> list[str]:
    if not exact:
        return []
    left = [tool.name for tool in surface.tools if tool.name not in named]
    return [f"{name}: the test does not name it, and is to be exact" for name in left]


def _unsaid(tool: Tool, *, is_bound: bool) -> list[str]:
    """What is missing or wrong in one tool's declaration, and what to write."""
    # From the raw list: a finding says more than “not declared”.
    said = read_tool(tool.raw)
    told = {finding.hint for finding in said.findings if finding.code == "hint-not-a-boolean"}
    unset: list[HintName] = [
        name
        for name in required_hints(is_read=bool(said.intent.hints.read_only))
        if said.intent.hints[name] is None and name not in told
    ]
    lines = [f"{WIRE_NAMES[name]} is not declared" for name in unset]
    lines += [f"{finding.message} [{finding.code}]" for finding in said.findings]
    title = said.intent.title
    if title is None:
        lines.append("it has no title")
    if not lines:
        return []
    known = title or derive_title(tool.name)
    return [*lines, suggested(tool, title=known, is_bound=is_bound)]


def _unlike(tool: Tool, expected: Intent, *, is_bound: bool) -> list[str]:
    said = read_tool(tool.raw).intent
    hints = [
        f"{WIRE_NAMES[name]} is {_said(said.hints[name])}, expected {_json(expected.hints[name])}"
        for name in HINT_NAMES
        if expected.hints[name] is not None and said.hints[name] is not expected.hints[name]
    ]
    fields = [
        f"{name} is {_shown(getattr(said, name))}, expected {_shown(getattr(expected, name))}"
        for name in _FIELDS
        if getattr(expected, name) and getattr(expected, name) != getattr(said, name)
    ]
    lines = [*hints, *fields]
    if hints:
        advice = how(expected, is_bound=is_bound)
        if said.hints.is_complete:
            advice += f" (it is declared as {as_code(said.hints)})"
        lines.append(advice)
    if not lines:
        return []
    return [tool.name, *(f"  {line}" for line in lines)]


def _of_another_level(tool: Tool, expected: Level, trust: Trust | None) -> list[str]:
    said = read_tool(tool.raw).intent
    evidence = Evidence(said.hints)
    if trust:
        evidence = Evidence(said.hints, tool.inferred)
    found = resolve(evidence, trust or Trust.TRUSTED)
    if found.level is expected:
        return []
    names: list[HintName] = ["read_only"]
    if not found.read_only.value:
        names.append("destructive")
    reasons = [
        f"{WIRE_NAMES[name]} counts as {_json(found[name].value)}: {_why(tool, name, found[name])}"
        for name in names
    ]
    write = f"if it is {expected}, declare it as sayso.{_BY_LEVEL[expected]}, or with its hints"
    head = f"{tool.name}: its level is {found.level}, expected {expected}"
    return [head, *(f"  {line}" for line in [*reasons, write])]


def _why(tool: Tool, name: HintName, resolved: Resolved) -> str:
    declared = read_tool(tool.raw).intent.hints[name]
    match resolved.source:
        case Source.INFERRED if declared is None:
            return "its name and texts say so"
        case Source.INFERRED:
            return f"its name and texts say so, though it declares {_json(declared)}"
        case Source.DEFAULT if declared is None:
            return "not declared, and that is the specification's default"
        case Source.DEFAULT:
            return f"it declares {_json(declared)}, which does not count at this trust"
        case _:
            return "declared"


def _level(word: str, name: str) -> Level:
    if word in tuple(Level):
        return Level(word)
    fix = likely(str(word), Level) or f"Levels are: {', '.join(Level)}."
    raise UsageError(f"{word!r} is no level", where=f"assert_level, {name}", fix=fix)


def _trust(word: str) -> Trust:
    if word in tuple(Trust):
        return Trust(word)
    raise UsageError(f"{word!r} is no trust", where="assert_level", fix=f"Say {', '.join(Trust)}.")


def _said(value: bool | None) -> str:  # noqa: FBT001 - a hint's value is what it is about
    return "not declared" if value is None else f"declared {_json(value)}"


def _json(value: bool | None) -> str:  # noqa: FBT001 - as above
    return str(DEFAULTS["read_only"] if value is None else value).lower()


def _shown(value: object) -> str:
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "empty"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - of texts
    return "not declared" if value is None else repr(str(value))
