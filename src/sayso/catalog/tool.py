"""A tool as sayso knows it: as received, as declared, as resolved, and who it is."""

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
_LONGEST_NAME: Final = 128
_MOST_GUESSED: Final = 10_000
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

    `raw` is its entry of `tools/list`, exactly as received. `origin` tells servers of one name
    apart: a digest of what was connected to. `is_marked` is whether its schema may name arguments
    that travel as HTTP headers too (`x-mcp-header`). `before` is what it was known as, where it
    changed since and no person has accepted that: then the stricter of both counts. `receipts` are
    about it as it is and the package that runs; whose of them count, a policy says. `quarantine`
    says why it is not called until a person lifts that; empty where it may be.
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
        """What its server and its own text say of its hints."""
        return Evidence(self.intent.hints, self.inferred)

    @property
    def qualified_name(self) -> str:
        """The name it has behind the gateway."""
        return qualify(self.server, self.name)

    @property
    def title(self) -> str:
        """The title that was declared, or one derived from the name."""
        return self.intent.title or derive_title(self.name)

    @property
    def level(self) -> Level:
        """The level of its resolved hints."""
        return self.resolved.level

    @property
    def input_schema(self) -> Mapping[str, Any] | None:
        """The schema of its arguments, where it is one."""
        schema = self.raw.get("inputSchema")
        return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else None

    def listing(self, version: str) -> dict[str, Any]:
        """Its entry of the gateway's `tools/list` for a client that speaks `version`."""
        wire = list_tool(self.raw, self.resolved, version=version, title=self.title)
        return {**wire, "name": self.qualified_name}


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tools of some servers by qualified name, and what could not be taken in.

    `problems` are about entries that are no tools, by server.
    """

    tools: Mapping[str, Tool]
    problems: tuple[str, ...] = ()

    def find(self, qualified_name: str) -> Tool | None:
        """The tool of this name, if there is one."""
        return self.tools.get(qualified_name)


def qualify(server: str, name: str) -> str:
    """The name that a server's tool has among those of others: `server__tool`, cut at 128.

    Where no server is known it is the tool's own name.
    """
    whole = name
    if server:
        whole = f"{server}{SEPARATOR}{name}"
    if len(whole) <= _LONGEST_NAME:
        return whole
    return f"{whole[: _LONGEST_NAME - 9]}-{digest(whole)[:8]}"


def fingerprint(tool: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of what makes a tool what it is, as received.

    Raises `UsageError` where the tool holds what JSON cannot say.
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
    """The tool that `raw`, an entry of `tools/list`, describes.

    Without `infer` its name and texts suggest nothing: for a tool whose author has said all.

    Raises `UsageError` for an entry without a name, with a schema that is no object (a client
    would refuse the whole list for it), or that no fingerprint can be taken of.
    """
    name = raw.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError("a tool without a name", where=server)
    if not isinstance(raw.get("inputSchema", {}), Mapping):
        raise UsageError("its inputSchema is not an object", where=f"{server}, tool {name!r}")
    said = read_tool(raw)
    known = _fingerprint_at(f"{server}, tool {name!r}", raw)
    inferred: Mapping[HintName, Guess] = _inferred(known, raw) if infer else {}
    evidence = Evidence(said.intent.hints, inferred, operator=operator or Hints())
    return Tool(
        server=server,
        name=name,
        raw=raw,
        intent=said.intent,
        resolved=resolve(evidence, trust),
        inferred=inferred,
        findings=said.findings,
        fingerprint=known,
        origin=origin,
        is_marked="x-mcp-header" in repr(raw.get("inputSchema")),
    )


def _inferred(known: str, raw: Mapping[str, Any]) -> Mapping[HintName, Guess]:
    """What a tool's text suggests, worked out once: a list mostly holds what it held."""
    found = _GUESSED.get(known)
    if found is None:
        if len(_GUESSED) >= _MOST_GUESSED:
            _GUESSED.clear()
        found = _GUESSED[known] = guess(raw)
    return found


def _fingerprint_at(where: str, raw: Mapping[str, Any]) -> str:
    try:
        return fingerprint(raw)
    except UsageError as error:
        raise UsageError(error.what, where=where) from error


def make_catalog(tools: Iterable[Tool], problems: Iterable[str] = ()) -> Catalog:
    """Tools by their qualified name; of two with one name the second is a problem."""
    found: dict[str, Tool] = {}
    wrong = list(problems)
    for tool in tools:
        if tool.qualified_name in found:
            wrong.append(f"{tool.server}: two tools are called {tool.name!r}; the first counts")
        else:
            found[tool.qualified_name] = tool
    return Catalog(found, tuple(wrong))


def read_tools(
    server: str, raws: Iterable[object], *, trust: Trust = Trust.CAUTIOUS, origin: str = ""
) -> tuple[list[Tool], list[str]]:
    """The tools of one server's `tools/list`, and what is wrong with entries that are none."""
    found = [
        read_entry(server, index, raw, trust=trust, origin=origin) for index, raw in enumerate(raws)
    ]
    tools = [entry for entry in found if isinstance(entry, Tool)]
    return tools, [entry for entry in found if isinstance(entry, str)]


def read_entry(
    server: str, index: int, raw: object, *, trust: Trust = Trust.CAUTIOUS, origin: str = ""
) -> Tool | str:
    """Return the tool of one entry of `tools/list`, or what is wrong with it."""
    if not isinstance(raw, Mapping):
        return f"{server}: entry {index} of tools/list is not an object"
    try:
        return make_tool(server, cast("Mapping[str, Any]", raw), trust=trust, origin=origin)
    except UsageError as error:
        return str(error)
