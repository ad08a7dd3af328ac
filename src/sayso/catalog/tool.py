"""A tool of a server: as received, as declared, as resolved, and its identity."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from sayso.catalog.title import derive_title
from sayso.errors import UsageError
from sayso.infer import guess
from sayso.intent import (
    Evidence,
    Finding,
    Guess,
    HintName,
    Hints,
    Intent,
    Level,
    ResolvedIntent,
    ToolReceipt,
    Trust,
    list_tool,
    read_tool,
    resolve,
)
from sayso.schema import digest

SEPARATOR: Final = "__"
_MAX_NAME: Final = 128
_MAX_CACHED: Final = 10_000
_GUESSED: Final[dict[str, Mapping[HintName, Guess]]] = {}
FINGERPRINTED: Final = (
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one server.

    `raw` is the entry of `tools/list`, exactly as received. `origin`, a digest of the connected
    target, distinguishes servers of the same name. `is_marked`: the schema may name arguments that
    are also sent as HTTP headers (`x-mcp-header`). `before` is the accepted version while a change
    waits for a person; then the stricter of both versions counts. `receipts` are about this tool
    and the running package; the policy decides which of them count. `quarantine` is empty, or the
    reason why the tool must not be called until a person lifts the quarantine.
    """

    server: str
    name: str
    raw: Mapping[str, Any] = field(repr=False)
    intent: Intent
    resolved: ResolvedIntent
    inferred: Mapping[HintName, Guess]
    findings: tuple[Finding, ...]
    fingerprint: str
    origin: str = ""
    is_marked: bool = False
    before: "Tool | None" = field(default=None, repr=False)
    receipts: tuple[ToolReceipt, ...] = field(default=(), repr=False)
    quarantine: str = ""

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.intent.hints, self.inferred)

    @property
    def qualified_name(self) -> str:
        return qualify(self.server, self.name)

    @property
    def title(self) -> str:
        return self.intent.title or derive_title(self.name)

    @property
    def level(self) -> Level:
        return self.resolved.level

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        schema = self.raw.get("inputSchema")
        return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None

    def listing(self, version: str) -> dict[str, Any]:
        """Return the entry of the gateway's `tools/list` in protocol `version`."""
        wire = list_tool(self.raw, self.resolved, version=version, title=self.title)
        return {**wire, "name": self.qualified_name}


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools of some servers by qualified name; `problems` describe rejected entries."""

    tools: Mapping[str, Tool]
    problems: tuple[str, ...] = ()

    def find(self, qualified_name: str) -> Tool | None:
        return self.tools.get(qualified_name)


def qualify(server: str, name: str) -> str:
    """Return `server__tool`, or `name` if `server` is empty, shortened to 128 characters."""
    whole = name
    if server:
        whole = f"{server}{SEPARATOR}{name}"
    if len(whole) <= _MAX_NAME:
        return whole
    return f"{whole[: _MAX_NAME - 9]}-{digest(whole)[:8]}"


def fingerprint(tool: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a tool's definition, as received.

    Raises `UsageError` for values that JSON cannot represent.
    """
    return digest({key: tool[key] for key in FINGERPRINTED if key in tool})


def make_tool(
    server: str,
    raw: Mapping[str, Any],
    *,
    trust: Trust = Trust.CAUTIOUS,
    operator: Hints | None = None,
    origin: str = "",
    infer: bool = True,
) -> Tool:
    """Return the tool of `raw`, an entry of `tools/list`.

    Without `infer`, hints come only from declarations: for tools whose author declared everything.

    Raises `UsageError` for an entry without a name, with a schema that is not an object (clients
    would reject the whole list), or with values that JSON cannot represent.
    """
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("tool without a name", where=server)
    if not isinstance(raw.get("inputSchema", {}), Mapping):
        raise UsageError("inputSchema is not an object", where=f"{server}, tool {name!r}")
    declaration = read_tool(raw)
    own_fingerprint = _fingerprint_at(f"{server}, tool {name!r}", raw)
    inferred: Mapping[HintName, Guess] = _inferred(own_fingerprint, raw) if infer else {}
    evidence = Evidence(declaration.intent.hints, inferred, operator=operator or Hints())
    return Tool(
        server=server,
        name=name,
        raw=raw,
        intent=declaration.intent,
        resolved=resolve(evidence, trust),
        inferred=inferred,
        findings=declaration.findings,
        fingerprint=own_fingerprint,
        origin=origin,
        is_marked="x-mcp-header" in repr(raw.get("inputSchema")),
    )


def _inferred(own_fingerprint: str, raw: Mapping[str, Any]) -> Mapping[HintName, Guess]:
    """Return a tool's inferred hints, cached because lists rarely change."""
    guesses = _GUESSED.get(own_fingerprint)
    if guesses is None:
        if len(_GUESSED) >= _MAX_CACHED:
            _GUESSED.clear()
        guesses = _GUESSED[own_fingerprint] = guess(raw)
    return guesses


def _fingerprint_at(where: str, raw: Mapping[str, Any]) -> str:
    try:
        return fingerprint(raw)
    except UsageError as error:
        raise UsageError(error.what, where=where) from error


def make_catalog(tools: Iterable[Tool], problems: Iterable[str] = ()) -> Catalog:
    """Return tools by qualified name; a second tool with the same name is a problem."""
    by_name: dict[str, Tool] = {}
    all_problems = list(problems)
    for tool in tools:
        if tool.qualified_name in by_name:
            all_problems.append(
                f"{tool.server}: two tools are called {tool.name!r}; the first counts"
            )
        else:
            by_name[tool.qualified_name] = tool
    return Catalog(by_name, tuple(all_problems))


def read_tools(
    server: str, raws: Iterable[object], *, trust: Trust = Trust.CAUTIOUS, origin: str = ""
) -> tuple[list[Tool], list[str]]:
    """Return the tools of one server's `tools/list`, and the problems of other entries."""
    entries = [
        read_entry(server, index, raw, trust=trust, origin=origin) for index, raw in enumerate(raws)
    ]
    tools = [entry for entry in entries if isinstance(entry, Tool)]
    return tools, [entry for entry in entries if isinstance(entry, str)]


def read_entry(
    server: str, index: int, raw: object, *, trust: Trust = Trust.CAUTIOUS, origin: str = ""
) -> Tool | str:
    """Return the tool of one entry of `tools/list`, or the problem as text."""
    if not isinstance(raw, Mapping):
        return f"{server}: entry {index} of tools/list is not an object"
    try:
        return make_tool(server, cast("Mapping[str, Any]", raw), trust=trust, origin=origin)
    except UsageError as error:
        return str(error)
