"""Exercise of tools: repeated calls, dry runs and comparison of the state."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, cast

from sayso.catalog import Tool, read_tools
from sayso.connect import RpcError
from sayso.intent import Level, read_tool
from sayso.schema import canonical
from sayso.testing.behaviour import Behaviour, Calls, Verdict
from sayso.testing.listing import Surface, run_here
from sayso.testing.samples import sample
from sayso.testing.session import Session, open_session
from sayso.testing.state import Probe, difference, lost_between

_NO_PROBE: Final = "no probe observes the state"
_ORDER: Final = tuple(Level)
_MAX_TEXT_CHARACTERS: Final = 200

Method = Callable[[Tool, dict[str, Any]], Awaitable[list[Verdict]]]


class _FailedError(Exception):
    """A call that ended in an error, and shows nothing."""


async def exercise(
    server: object,
    *,
    calls: Calls | None = None,
    probe: Probe | Sequence[Probe] = (),
    varying: Sequence[str] = (),
    only: Sequence[str] | None = None,
    reset: Callable[[], Any] | None = None,
) -> Behaviour:
    """Call tools and compare their effects with their hints, without approvals or containment.

    `calls` holds arguments by tool, of one call or several. Other tools are called with the
    examples and defaults of their schemas, if these exist and the tool runs in this process, is not
    destructive and not open-world. `probe` observes the state; without one no hint can be
    supported. `varying` are read-only tools whose results may differ, such as a clock. `only`
    limits the tools, and `reset` is called before each tool.

    Reads come first, destructive tools last, each in the order of `calls`. Raises `UsageError` for
    an unknown tool, and the errors of connecting.

    >>> import anyio
    >>> from mcp.server import MCPServer
    >>> anyio.run(exercise, MCPServer("crm")).verdicts
    ()
    """
    given = {name: _listed(sets) for name, sets in (calls or {}).items()}
    probes = (probe,) if callable(probe) else tuple(probe)
    async with _opened(server) as (session, surface):
        for name in (*given, *varying, *(only or ())):
            surface.tool(name)
        trial = _Trial(session, probes, frozenset(varying))
        for tool in _in_order(surface, given, only):
            if reset is not None:
                reset()
            await trial.run(tool, given.get(tool.name))
        return Behaviour(session.name, tuple(trial.verdicts), tuple(trial.failures))


def assert_behaves(
    server: object,
    *,
    calls: Calls | None = None,
    probe: Probe | Sequence[Probe] = (),
    varying: Sequence[str] = (),
    only: Sequence[str] | None = None,
    reset: Callable[[], Any] | None = None,
    exact: bool = False,
) -> Behaviour:
    """Call the tools of your own server, and assert that no hint is false.

    The arguments are those of `exercise`; inside an event loop, pass the result of `await
    exercise(…)`. There is no containment, so all effects are real. Returns all verdicts. Raises
    `AssertionError` if a hint is refuted, or a call of the test failed; with `exact`, also if a
    promise was not exercised.

    >>> import tempfile
    >>> from mcp.server import MCPServer
    >>> import sayso
    >>> from sayso.testing import folder_state
    >>> server = MCPServer("crm")
    >>> tools = sayso.bind(server)
    >>> @tools.tool(sayso.READ_ONLY)
    ... def customers_list() -> list[str]:
    ...     return ["Ann"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(assert_behaves(server, probe=folder_state(folder)))
    customers_list: read_only supported by 2 calls
    """
    __tracebackhide__ = True
    if isinstance(server, Behaviour):
        found = server
    else:
        work = partial(
            exercise, server, calls=calls, probe=probe, varying=varying, only=only, reset=reset
        )
        instead = "assert_behaves(await sayso.testing.exercise(server, …))"
        found = run_here(work, where="assert_behaves", instead=instead)
    refuted = [str(verdict) for verdict in found.verdicts if verdict.status == "refuted"]
    unknown = [
        str(verdict) for verdict in found.verdicts if exact and verdict.status == "not_exercised"
    ]
    if lines := [*refuted, *found.failures, *unknown]:
        what = "the behaviour differs from the declaration"
        if len(lines) == len(unknown):
            what = "some promises were not exercised, and the test is exact"
        raise AssertionError("\n  ".join([f"{found.server}: {what}", *lines]))
    return found


@asynccontextmanager
async def _opened(server: object) -> AsyncGenerator[tuple[Session, Surface]]:
    """Open a session and its surface; exceptions leave it without a wrapping group."""
    failure: Exception | None = None
    async with open_session(server) as session:
        try:
            tools, problems = read_tools(session.name, await session.entries())
            yield session, Surface(session.name, tuple(tools), tuple(problems))
        except Exception as error:  # noqa: BLE001 - raised below, outside of task groups
            failure = error
    if failure is not None:
        raise failure


def _listed(
    given: Mapping[str, Any] | Sequence[Mapping[str, Any]],
) -> tuple[dict[str, Any], ...]:
    if isinstance(given, Mapping):
        return (dict(given),)
    return tuple(dict(arguments) for arguments in given)


def _in_order(surface: Surface, given: Mapping[str, Any], only: Sequence[str] | None) -> list[Tool]:
    names = [*given, *(tool.name for tool in surface.tools)]
    tools = [tool for tool in surface.tools if only is None or tool.name in only]
    return sorted(
        tools,
        key=lambda tool: (_ORDER.index(read_tool(tool.raw).intent.level), names.index(tool.name)),
    )


@dataclass(slots=True)
class _Trial:
    """A sequence of calls of one server's tools."""

    session: Session
    probes: tuple[Probe, ...]
    varying: frozenset[str]
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    failures: list[str] = field(default_factory=list[str])

    async def run(self, tool: Tool, given: tuple[dict[str, Any], ...] | None) -> None:
        """Exercise one tool, with the arguments from the test if there are any."""
        calls = self._arguments(tool) if given is None else given
        if not calls:
            calls = "calls={…} has an empty list for it"
        if isinstance(calls, str):
            for promises, _ in self._trials(tool):
                self.verdicts += _unknown(tool, promises, calls)
            return
        worst: dict[str, Verdict] = {}
        for arguments in calls:
            for promises, method in self._trials(tool):
                try:
                    verdicts = await method(tool, arguments)
                except _FailedError as error:
                    if given is not None:
                        self.failures.append(f"{tool.name}: the test's call ended in {error}")
                    verdicts = _unknown(tool, promises, f"the call ended in {error}")
                for verdict in verdicts:
                    if verdict.promise in promises:
                        worst[verdict.promise] = _worse(worst.get(verdict.promise), verdict)
        self.verdicts += worst.values()

    def _trials(self, tool: Tool) -> list[tuple[tuple[str, ...], Method]]:
        """Return the promises of a tool that calls can refute, with the method to try them."""
        hints = read_tool(tool.raw).intent.hints.with_defaults()
        if hints.read_only:
            return [(("read_only",), self._read)]
        trials: list[tuple[tuple[str, ...], Method]] = []
        properties: Any = (tool.input_schema or {}).get("properties")
        if isinstance(properties, Mapping) and "dry_run" in properties:
            trials.append((("dry_run",), self._run_dry))
        looser = (("destructive", not hints.destructive), ("idempotent", hints.idempotent))
        if promises := tuple(name for name, is_looser in looser if is_looser):
            trials.append((promises, self._write))
        return trials

    def _arguments(self, tool: Tool) -> tuple[dict[str, Any], ...] | str:
        """Return arguments for a tool that the test does not name, or why it is not called."""
        intent = read_tool(tool.raw).intent
        if intent.level is Level.DESTRUCTIVE:
            return "it may be destructive, so it requires arguments in calls={…}"
        if intent.hints.with_defaults().open_world:
            return "it may be open-world, so it requires arguments in calls={…}"
        if not self.session.is_in_process:
            return "it runs in another process, so it requires arguments in calls={…}"
        arguments = sample(tool.input_schema or {})
        if isinstance(arguments, str):
            return f"{arguments}: add arguments in calls={{…}}"
        return (arguments,)

    async def _read(self, tool: Tool, arguments: dict[str, Any]) -> list[Verdict]:
        before = self._look()
        first = await self._call(tool, arguments)
        # Compare after each call, because the second may undo the first.
        once = difference(before, self._look())
        second = await self._call(tool, arguments)
        if changed := once or difference(before, self._look()):
            return [_refuted(tool, "read_only", 2, f"{changed} with {arguments}")]
        if tool.name not in self.varying and canonical(first) != canonical(second):
            what = f"two calls with {arguments} gave different results (see varying=…)"
            return [_refuted(tool, "read_only", 2, what)]
        return [self._supported(tool, "read_only", 2)]

    async def _run_dry(self, tool: Tool, arguments: dict[str, Any]) -> list[Verdict]:
        before = self._look()
        await self._call(tool, {**arguments, "dry_run": True})
        if changed := difference(before, self._look()):
            return [_refuted(tool, "dry_run", 1, f"{changed} although dry_run was true")]
        return [self._supported(tool, "dry_run", 1)]

    async def _write(self, tool: Tool, arguments: dict[str, Any]) -> list[Verdict]:
        before = self._look()
        await self._call(tool, arguments)
        once = self._look()
        if self.probes and before == once:
            why = f"the call with {arguments} changed nothing that a probe observes"
            return _unknown(tool, ("destructive", "idempotent"), why)
        lost = lost_between(before, once)
        verdict = self._supported(tool, "destructive", 1)
        if lost:
            verdict = _refuted(tool, "destructive", 1, f"lost {lost} with {arguments}")
        if not read_tool(tool.raw).intent.hints.with_defaults().idempotent:
            return [verdict]
        await self._call(tool, arguments)
        if changed := difference(once, self._look()):
            what = f"a second call with {arguments} {changed}"
            return [verdict, _refuted(tool, "idempotent", 2, what)]
        return [verdict, self._supported(tool, "idempotent", 2)]

    def _supported(self, tool: Tool, promise: str, calls: int) -> Verdict:
        if not self.probes:
            return Verdict(tool.name, promise, "not_exercised", calls, _NO_PROBE)
        return Verdict(tool.name, promise, "supported", calls)

    def _look(self) -> tuple[Any, ...]:
        return tuple(probe() for probe in self.probes)

    async def _call(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a call's result. Raises `_FailedError`."""
        params = {"name": tool.name, "arguments": arguments}
        try:
            result = await self.session.request("tools/call", params)
        except RpcError as error:
            raise _FailedError(f"an error: {error}") from error
        if result.get("resultType", "complete") != "complete":
            raise _FailedError("a question to the client")
        if result.get("isError"):
            raise _FailedError(f"an error: {_text(result)}")
        return {key: result.get(key) for key in ("content", "structuredContent")}


def _refuted(tool: Tool, promise: str, calls: int, evidence: str) -> Verdict:
    return Verdict(tool.name, promise, "refuted", calls, evidence)


def _unknown(tool: Tool, promises: Sequence[str], why: str) -> list[Verdict]:
    return [Verdict(tool.name, promise, "not_exercised", 0, why) for promise in promises]


def _worse(before: Verdict | None, now: Verdict) -> Verdict:
    if before is None or before.status == "not_exercised":
        return now
    if now.status == "supported" and before.status == "supported":
        return Verdict(now.tool, now.promise, "supported", before.calls + now.calls)
    if now.status == "refuted":
        return now
    return before


def _text(result: Mapping[str, Any]) -> str:
    blocks = cast("list[Mapping[str, Any]]", result.get("content") or [])
    first = next((str(block["text"]) for block in blocks if "text" in block), "no text")
    return first[:_MAX_TEXT_CHARACTERS]
