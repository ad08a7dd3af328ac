"""One run: all calls, and the report on each tool."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sayso.catalog import Tool
from sayso.errors import UsageError
from sayso.trace import Effect, Life
from sayso.verify.call import Case, MadeCall
from sayso.verify.concurrent import do_all
from sayso.verify.environment import Environment
from sayso.verify.event import Called, Event, Judged, Phase, Started
from sayso.verify.inputs.captured_values import CapturedValues
from sayso.verify.inputs.error_feedback import named_tools
from sayso.verify.inputs.hints import ToolHints, VerifyHints
from sayso.verify.inputs.order import Rank, order_tools, rank_of
from sayso.verify.inputs.plan import Plan
from sayso.verify.inputs.roles import entities_of, is_maker, words_of_tool
from sayso.verify.inputs.shrink import shrink
from sayso.verify.inputs.world import World
from sayso.verify.judge import Confirmed, ToolEvidence, claims_of, judge, suspects
from sayso.verify.observe.output import differing
from sayso.verify.observed_server import ObservedServer
from sayso.verify.options import QUICK, Terms
from sayso.verify.suspicion import Cleared, Suspicion
from sayso.verify.verdict import Reach, Report, ToolReport

if TYPE_CHECKING:
    from sayso.intent import HintName

Tell = Callable[[Event], None]

UNCALLED: Final = "the tool may write and is not contained; use --all-tools to call it"
_MOST_SHRINKS: Final = 4
"""The maximum number of trials to make refuting arguments smaller. Each restarts the server."""
_LEARNING_ROUNDS: Final = 2
"""Rounds of `Grader.learn`: grades depend on facts that are learned from earlier grades."""
_MIN_SECOND_CALLS: Final = 4
_SECOND_PLAN_DIVISOR: Final = 2
"""A tool's second plan has the number of calls divided by this."""
_WRITE_HINTS: Final[tuple["HintName", ...]] = ("destructive", "idempotent")
_LASTING: Final = frozenset({Life.USER, Life.OWN})
_MAX_EARLIER_PER_TOOL: Final = 2
_MAX_EARLIER: Final = 12
"""The maximum number of earlier calls repeated before a suspicious call: per tool, in total."""
_MOST_OTHERS: Final = 2
"""The number of other tools that are called instead of a suspect."""
_MOST_STEPS: Final = 2
"""The number of steps from a tool to another that must be called earlier, which errors name."""
_MOST_MAKERS: Final = 12
"""The number of tools whose calls are repeated for one that needs what they made."""
_MOST_OF_MAKER: Final = 3
_MOST_REPEATED: Final = 24
"""The maximum number of calls repeated on a fresh server: of one tool, in total."""
_MOST_DEATHS: Final = 2
"""A tool is not called again after the server ended this often during its calls."""


@dataclass(slots=True)
class Log:
    """The calls of a run in order."""

    made: list[MadeCall] = field(default_factory=list[MadeCall])

    def of(self, name: str) -> list[MadeCall]:
        return [call for call in self.made if call.tool == name]

    def before(self, made: MadeCall) -> list[MadeCall]:
        """Return the calls before `made`."""
        return self.made[: next(index for index, call in enumerate(self.made) if call is made)]

    def changing_before(self, made: MadeCall) -> list[tuple[str, Case]]:
        """Return earlier calls of other tools that changed something that `made` may need."""
        by_tool = Counter[str]()
        found: list[tuple[str, Case]] = []
        for call in self.before(made):
            is_lasting = any(effect.life in _LASTING for effect in call.effects)
            if call.tool != made.tool and call.is_success and is_lasting:
                by_tool[call.tool] += 1
                if by_tool[call.tool] <= _MAX_EARLIER_PER_TOOL:
                    found.append((call.tool, call.case))
        return found[-_MAX_EARLIER:]

    def harmless(self, suspect: str) -> list[tuple[str, Case]]:
        """Return a call of each of a few other tools that changed nothing and reached no one.

        Such a tool shows what a server does on its first call, whichever call that is.
        """
        blamed = {
            call.tool
            for call in self.made
            if any(effect.life and effect.life.refutes_reading for effect in call.effects)
        }
        return self.others(suspect, blamed)

    def others(
        self, suspect: str, without: Collection[str] = frozenset()
    ) -> list[tuple[str, Case]]:
        """Return a successful call of each of a few other tools, the quickest first."""
        found: dict[str, MadeCall] = {}
        for call in self.made:
            if call.is_success and call.tool != suspect and call.tool not in without:
                found.setdefault(call.tool, call)
        quickest = sorted(found.values(), key=lambda call: call.seconds)
        return [(call.tool, call.case) for call in quickest[:_MOST_OTHERS]]


async def explore(
    server: ObservedServer, tool: Tool, plan: Plan, log: Log
) -> AsyncGenerator[MadeCall]:
    """Make a plan's calls of a tool until the server ends. Add late effects to the last call."""
    last: MadeCall | None = None
    while (case := next(plan, None)) is not None:
        last = await server.call(tool.name, case)
        plan.tell(case, is_success=last.is_success, text=last.text)
        log.made.append(last)
        yield last
        if server.is_dead:
            return
    if last is not None:
        log.made[len(log.before(last))] = await server.linger(last)


def say_nothing(_event: Event) -> None:
    """Ignore an event."""


@dataclass(slots=True)
class Session:
    """Runs the tools of an environment's server, and passes the events to `tell`.

    `log` has the calls in order, and `calls` counts them while they are made.
    """

    terms: Terms
    tell: Tell
    environment: Environment
    hints: VerifyHints
    world: World
    log: Log = field(default_factory=Log)
    captured: CapturedValues = field(default_factory=CapturedValues)
    plans: dict[str, Plan] = field(default_factory=dict[str, Plan])
    deaths: Counter[str] = field(default_factory=Counter[str])
    calls: int = 0
    tools: tuple[Tool, ...] = ()
    postponed: set[str] = field(default_factory=set[str])
    """The tools that were called again after those that their errors named."""
    has_retried: bool = False
    """Whether the tools that failed were called again after those that make things."""

    async def run(self) -> Report:
        """Call all tools, then confirm the suspicions and judge the hints, tool by tool."""
        self.tell(Phase("start"))
        tools, info = await self._explore()
        self.tell(Phase("confirm"))
        reports = await self._judge_all(tools)
        return Report(
            target=self.terms.target.name,
            server=info,
            layers=(*self.environment.holding, *self.environment.observing),
            tools=tuple(reports),
            profile=str(self.terms.profile),
            seed=self.terms.seed,
            notes=(QUICK, *self.environment.notes)
            if self.terms.is_quick
            else self.environment.notes,
            is_quick=self.terms.is_quick,
        )

    async def _explore(self) -> tuple[list[Tool], Mapping[str, Any]]:
        """Call all tools. Restart the server when it has ended.

        Some tools are called again on a fresh server, since others may have removed data that these
        tools need.
        """
        remaining: list[Tool] | None = None
        tools: list[Tool] = []
        info: Mapping[str, Any] = {}
        while remaining is None or remaining:
            async with self._start(self.log.made) as server:
                if remaining is None:
                    tools = list(server.tools)
                    info = server.info
                    remaining = self._begin(server)
                await self._call_remaining(server, remaining, self.log, self.captured)
        wanted = [tool for tool in tools if self._is_wanted(tool)]
        if self.environment.has_fresh_state and not self.terms.is_quick:
            await self._explore_again([tool for tool in wanted if self._has_more(tool)])
        return wanted, info

    async def _explore_again(self, tools: Sequence[Tool]) -> None:
        """Call each of the tools again on a fresh server, several at once."""

        async def call_again(tool: Tool) -> list[MadeCall]:
            log = Log()
            captured = self.captured.copy()
            async with self._start(log.made, before=tuple(self.log.made)) as server:
                await self._prepare_for(server, tool, log, captured)
                await self._call_remaining(server, [tool], log, captured)
            return log.made

        found = await do_all(call_again, tools)
        self.log.made += [call for made in found for call in made]
        if self.environment.grader is not None:
            self.environment.grader.learn(self.log.made)

    async def _prepare_for(
        self, server: ObservedServer, tool: Tool, log: Log, captured: CapturedValues
    ) -> None:
        """Repeat, on a fresh server, the successful calls that the tool seems to need."""
        names = [other.name for other in server.tools]
        needed = self._named_before(tool.name, names)
        if not any(call.is_success for call in self.log.of(tool.name)):
            nouns = set(entities_of(words_of_tool(tool.raw)))
            makers = [other for other in server.tools if is_maker(other.raw)]
            makers.sort(key=lambda other: nouns.isdisjoint(words_of_tool(other.raw)))
            needed = [*needed, *(other.name for other in makers[:_MOST_MAKERS])]
        names = [name for name in dict.fromkeys(needed) if name != tool.name]
        calls = [good for name in names for good in self._distinct_good(name)][:_MOST_REPEATED]
        for good in sorted(calls, key=lambda call: call.number):
            if not server.is_dead:
                made = await server.call(good.tool, good.case)
                log.made.append(made)
                _capture(made, captured)
                self._tell_called(made, 0)

    def _distinct_good(self, name: str) -> list[MadeCall]:
        """Return a tool's first successful calls that have different arguments."""
        found: list[MadeCall] = []
        for call in self.log.of(name):
            if call.is_success and call.case.arguments not in [
                other.case.arguments for other in found
            ]:
                found.append(call)
        return found[:_MOST_OF_MAKER]

    def _good(self, name: str) -> MadeCall | None:
        """Return the first successful call of a tool."""
        return next((call for call in self.log.of(name) if call.is_success), None)

    def _named_before(self, name: str, names: Sequence[str], depth: int = 0) -> list[str]:
        """Return the tools that a tool's errors name, and before each those that its own name."""
        texts = [call.text for call in self.log.of(name) if not call.is_success]
        found: list[str] = []
        for other in named_tools(texts, [other for other in names if other != name]):
            if depth < _MOST_STEPS:
                found += self._named_before(other, names, depth + 1)
            found.append(other)
        return list(dict.fromkeys(found))

    @asynccontextmanager
    async def _start(
        self, made: list[MadeCall], *, before: Sequence[MadeCall] = ()
    ) -> AsyncGenerator[ObservedServer]:
        """Start a fresh server, whose calls are added to `made`, after the calls `before`.

        Before the server ends, its calls are graded again with what was learned.
        """
        first = len(made)
        async with self.environment.start(number=len(before) + first) as server:
            yield server
            grader = self.environment.grader
            if grader is None:
                return
            # No pause between the two: servers that run at the same time share the grader.
            for _ in range(_LEARNING_ROUNDS):
                grader.learn([*before, *made])
                made[first:] = [server.again(call) for call in made[first:]]

    def _has_more(self, tool: Tool) -> bool:
        """Return whether calls on a fresh server may show more.

        They may if no call succeeded yet, or if a hint on writes can still be refuted: other tools
        may have removed data that this tool could destroy or change again.
        """
        made = self.log.of(tool.name)
        if self.plans[tool.name].problem or self.deaths[tool.name] >= _MOST_DEATHS:
            return False
        if not any(call.is_success for call in made):
            return True
        claims = claims_of(tool)
        write_hints = {name for name in _WRITE_HINTS if claims[name].is_looser}
        if claims["read_only"].value is True or not write_hints:
            return False
        suspected = suspects(ToolEvidence(tool, made, frozenset(), self.terms.profile))
        return not suspected.keys() >= write_hints

    def _begin(self, server: ObservedServer) -> list[Tool]:
        names = [tool.name for tool in server.tools]
        self.hints.check(names)
        for name in self.terms.only:
            if name not in names:
                fix = f"Choose one of {', '.join(sorted(names))}."
                raise UsageError(f"--tool {name}: the server has no such tool", fix=fix)
        wanted = [tool for tool in server.tools if self._is_wanted(tool)]
        self.tools = tuple(wanted)
        layers = (*self.environment.holding, *self.environment.observing)
        self.tell(Started(layers, tuple(tool.name for tool in wanted)))
        return order_tools(wanted, self.hints.order)

    def _is_wanted(self, tool: Tool) -> bool:
        return not self.terms.only or tool.name in self.terms.only

    def _retry(self, remaining: list[Tool]) -> None:
        """Before tools remove things, add those that failed: others may have made what they need.

        The same server still has it, for example a file that a later tool saved.
        """
        if self.has_retried or (remaining and rank_of(remaining[0]) is not Rank.DESTROY):
            return
        self.has_retried = True
        planned = {tool.name for tool in remaining}
        failed = [
            tool for tool in self.tools if tool.name not in planned and self._may_succeed_now(tool)
        ]
        remaining[:0] = sorted(failed, key=lambda tool: not is_maker(tool.raw))

    def _call_first(self, tool: Tool, remaining: list[Tool]) -> None:
        """Put the tools that a failed tool's errors name next, then that tool again."""
        if tool.name in self.postponed or self._good(tool.name) is not None:
            return
        names = self._named_before(tool.name, [other.name for other in self.tools])
        first = {
            other.name: other
            for other in remaining
            if other.name in names
            and rank_of(other) is not Rank.DESTROY
            and self._good(other.name) is None
        }
        if first:
            self.postponed.add(tool.name)
            rest = [other for other in remaining if other.name not in first]
            remaining[:] = [*first.values(), tool, *rest]

    def _may_succeed_now(self, tool: Tool) -> bool:
        """Return whether a tool failed, and another one has made or changed something since."""
        made = self.log.of(tool.name)
        if not made or self.plans[tool.name].problem or self.deaths[tool.name] >= _MOST_DEATHS:
            return False
        since = [call for call in self.log.made if call.number > made[-1].number]
        has_change = any(call.is_success and is_maker({"name": call.tool}) for call in since)
        return has_change and self._good(tool.name) is None

    async def _call_remaining(
        self, server: ObservedServer, remaining: list[Tool], log: Log, captured: CapturedValues
    ) -> None:
        self._retry(remaining)
        while remaining:
            tool = remaining[0]
            async for made in explore(server, tool, self._plan(tool, captured), log):
                _capture(made, captured)
                self._tell_called(made, len(remaining) * self.terms.budget)
            if server.is_dead:
                self.deaths[tool.name] += 1
                if self.deaths[tool.name] >= _MOST_DEATHS:
                    remaining.pop(0)
                return
            remaining.pop(0)
            self._call_first(tool, remaining)
            self._retry(remaining)

    def _tell_called(self, made: MadeCall, remaining: int) -> None:
        self.calls += 1
        self.tell(Called(made, self.calls, self.calls + remaining))

    def _plan(self, tool: Tool, captured: CapturedValues) -> Plan:
        budget = self.terms.budget
        if tool.name in self.plans:
            budget = max(_MIN_SECOND_CALLS, budget // _SECOND_PLAN_DIVISOR)
        hints = self.hints
        if not self.environment.is_safe and tool.intent.hints.read_only is not True:
            hints = replace(hints, tools={**hints.tools, tool.name: ToolHints(skip=UNCALLED)})
        seed = self.terms.seed
        plan = Plan(tool, self.world, captured, hints, seed=seed, budget=budget)
        self.plans[tool.name] = plan
        return plan

    async def _judge_all(self, tools: Sequence[Tool]) -> list[ToolReport]:
        """Judge each tool, and return the reports in order. The environment limits the servers."""
        done = 0

        async def judge_one(tool: Tool) -> ToolReport:
            nonlocal done
            report = await self._judge(tool)
            done += 1
            self.tell(Judged(report, done, len(tools)))
            return report

        return await do_all(judge_one, tools)

    async def _judge(self, tool: Tool) -> ToolReport:
        made = self.log.of(tool.name)
        observers = frozenset(layer.name for layer in self.environment.observing if layer.is_active)
        evidence = ToolEvidence(
            tool,
            made,
            observers,
            self.terms.profile,
            uncalled=self.plans[tool.name].problem,
            limit=self.environment.limit,
        )
        confirmed: dict[HintName, Confirmed] = {}
        doubts: dict[HintName, str] = {}
        cleared: dict[HintName, str] = {}
        for name, suspect in suspects(evidence).items():
            before = [call for call in self.log.before(suspect) if call.tool == tool.name]
            suspicion = Suspicion(
                name,
                suspect,
                before,
                self.log.changing_before(suspect),
                self.log.harmless(tool.name),
                self.log.others(tool.name),
            )
            result = await self.environment.confirm(suspicion, evidence, self._shrink(tool))
            if isinstance(result, Confirmed):
                confirmed[name] = result
            elif isinstance(result, Cleared):
                cleared[name] = result.reason
            else:
                doubts[name] = result
        evidence = replace(evidence, confirmed=confirmed, doubts=doubts, cleared=cleared)
        return self._report(evidence)

    def _shrink(self, tool: Tool) -> Any:
        plan = self.plans[tool.name]
        return partial(
            shrink, is_valid=plan.is_valid, most=0 if self.terms.is_quick else _MOST_SHRINKS
        )

    def _report(self, evidence: ToolEvidence) -> ToolReport:
        plan = self.plans[evidence.tool.name]
        successes = evidence.successes
        reached = frozenset(name for call in successes for name in call.case.classes)
        missed = {name: why for name, why in plan.left.items() if name not in reached}
        return ToolReport(
            evidence.tool.name,
            evidence.tool.fingerprint,
            judge(evidence),
            Reach(len(evidence.made), len(successes), reached, missed),
            ignored=(*_ignored(evidence.made), *_differing(evidence)),
            error="" if successes else evidence.failure,
            made=tuple(evidence.made),
        )


def _capture(made: MadeCall, captured: CapturedValues) -> None:
    if made.is_success:
        captured.use(made.tool, made.case.arguments)
    captured.add(made.tool, made.result)


def _ignored(made: Sequence[MadeCall]) -> tuple[Effect, ...]:
    found = {
        (effect.kind, effect.target): effect
        for call in made
        for effect in call.effects
        if effect.life is not None and not effect.life.refutes_reading
    }
    return tuple(found.values())


def _differing(evidence: ToolEvidence) -> tuple[Effect, ...]:
    if "output" not in evidence.observers:
        return ()
    pairs = (
        (first, other)
        for first, other in evidence.repeats()
        if first.is_success and other.is_success
    )
    return tuple(found for first, other in pairs if (found := differing(first, other)))[:1]
