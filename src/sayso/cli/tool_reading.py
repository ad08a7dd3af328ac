"""Tool lists of targets, for commands that show them."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import anyio

from sayso.catalog import Tool, read_tools
from sayso.cli.address import check_seconds
from sayso.cli.terminal import plural, working
from sayso.connect import CommandTarget, Fault, RpcError, SavedTarget, Target, UrlTarget
from sayso.errors import AuthenticationError, SaysoError, TimedOutError, UnreachableError
from sayso.intent import Level

if TYPE_CHECKING:
    from sayso.lint import Finding

T = TypeVar("T")

_KINDS: Final[Mapping[Fault | None, type[SaysoError]]] = {
    Fault.TIMED_OUT: TimedOutError,
    Fault.UNAUTHORIZED: AuthenticationError,
}


@dataclass(frozen=True, slots=True)
class ToolListing:
    """One server's tools, the `problems` of invalid entries, and each tool's lint `faults`."""

    name: str
    server: Mapping[str, Any]
    protocol: str | None
    tools: list[Tool]
    problems: list[str]
    faults: "Sequence[Sequence[Finding]]" = ()

    @property
    def has_findings(self) -> bool:
        """True if the list has an invalid entry or a tool with findings."""
        return bool(self.problems) or any(tool.findings for tool in self.tools)

    @property
    def headline(self) -> str:
        """The server in one line, with the number of its tools by level."""
        counts = Counter(tool.level for tool in self.tools)
        levels = ", ".join(f"{counts[level]} {level}" for level in Level if counts[level])
        version = self.server.get("version") or ""
        about = " ".join(part for part in (self.name, str(version)) if part)
        if self.protocol:
            about += f" (MCP {self.protocol})"
        line = f"{about}: {len(self.tools)} {plural(len(self.tools), 'tool')}"
        return f"{line}: {levels}" if levels else line

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, without its `schema` number."""
        server = {**self.server, "name": self.name, "protocol": self.protocol}
        if declared := self.server.get("name"):
            server["declared_name"] = declared
        tools = [_tool(tool) for tool in self.tools]
        for tool, faults in zip(tools, self.faults, strict=False):
            tool["lint"] = [_fault(fault) for fault in faults]
        document: dict[str, Any] = {"server": server, "tools": tools}
        if self.problems:
            document["problems"] = self.problems
        return document


def _tool(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "level": str(tool.level),
        "hints": tool.resolved.to_dict(),
        "inferred": {name: asdict(guess) for name, guess in tool.inferred.items()},
        "fingerprint": tool.fingerprint,
        "findings": [finding.to_dict() for finding in tool.findings],
    }


def _fault(finding: "Finding") -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": str(finding.severity),
        "message": finding.message,
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """One target's `tools/list` as received; entries may be invalid."""

    server: Mapping[str, Any]
    protocol: str | None
    entries: Sequence[object]


async def read_listing(target: Target, *, timeout: float) -> ToolListing:
    """Connect to `target` and list its tools; `timeout` in seconds. Raises `SaysoError`."""
    answer = await read_answer(target, timeout=timeout)
    tools, problems = read_tools(target.name, answer.entries)
    return ToolListing(target.name, answer.server, answer.protocol, tools, problems)


async def read_answer(target: Target, *, timeout: float) -> Answer:
    """Connect to `target` and return its list as received. Raises `SaysoError`."""
    if isinstance(target, SavedTarget):
        return Answer(target.server, None, target.tools)
    return await _ask(target, timeout)


async def read_answers(targets: Sequence[Target], timeout: float) -> list[Answer | SaysoError]:
    """Read all lists concurrently, as received; a target that fails yields its error."""
    return await _all(targets, partial(read_answer, timeout=timeout))


def ask_listings(targets: Sequence[Target], timeout: float) -> list[ToolListing | SaysoError]:
    """Read the tools of all targets, with a progress message; see `read_answers` for errors."""
    return _ask_all(targets, timeout, partial(read_listing, timeout=timeout))


def ask_answers(targets: Sequence[Target], timeout: float) -> list[Answer | SaysoError]:
    """Read all lists as received, with a progress message; see `read_answers` for errors."""
    return _ask_all(targets, timeout, partial(read_answer, timeout=timeout))


def _ask_all(
    targets: Sequence[Target], timeout: float, read_one: Callable[[Target], Awaitable[T]]
) -> list[T | SaysoError]:
    check_seconds(timeout, "--timeout")
    with working("Listing tools …"):
        return anyio.run(_all, targets, read_one)


def errors_in(found: Sequence[object]) -> list[SaysoError]:
    """Return the errors among answers."""
    return [answer for answer in found if isinstance(answer, SaysoError)]


def name_of(entry: object) -> str | None:
    """Return the name of an entry of `tools/list`, if it has one."""
    if not isinstance(entry, Mapping):
        return None
    name = cast("Mapping[str, Any]", entry).get("name")
    return name if isinstance(name, str) else None


async def _all(
    targets: Sequence[Target], read_one: Callable[[Target], Awaitable[T]]
) -> list[T | SaysoError]:
    results: list[T | SaysoError] = [SaysoError("not read")] * len(targets)

    async def read(index: int, target: Target) -> None:
        try:
            results[index] = await read_one(target)
        except SaysoError as error:
            results[index] = error

    async with anyio.create_task_group() as group:
        for index, target in enumerate(targets):
            group.start_soon(read, index, target)
    return results


async def _ask(target: CommandTarget | UrlTarget, timeout: float) -> Answer:
    from sayso.connect import list_all, open_link, open_proof

    async with open_proof(target) as proof, open_link(target, timeout=timeout, proof=proof) as link:
        try:
            entries = await list_all(link, "tools/list", timeout=timeout)
        except RpcError as error:
            kind = _KINDS.get(error.fault, UnreachableError)
            raise kind(f"tools/list failed: {error}", where=target.name) from error
        return Answer(link.greeting.server, link.version, entries)
