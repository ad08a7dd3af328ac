"""A call takes the same steps, and leaves the same records, with an observer and without one."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
import stamina
from tests.guard.world import World, asked, giving, yes
from tests.sample_tools import AMY, DELETE, READ, WRITE

from sayso.approvals import Answer as Said
from sayso.audit import merged
from sayso.connect import Fault, RpcError
from sayso.errors import DeniedError, UnknownToolError, UnreachableError
from sayso.guard import Call, Guard, Through, pipeline
from sayso.guard.call import META_KEY, CrashError
from sayso.guard.context import GuardContext, Step, Then, WrappingStep, every_call
from sayso.guard.ordering import CallQueue
from sayso.intent import Hints, Level
from sayso.policy import Principal, load_policy
from sayso.store import open_store

pytestmark = pytest.mark.anyio

AGAIN: Final = {**WRITE, "idempotentHint": True}
EVE: Final = Principal("eve", scopes=frozenset())
AWAY: Final = UnreachableError("away")
LOST: Final = RpcError(-32000, "gone", fault=Fault.LOST)
KEY: Final = {"meta": {META_KEY: "k"}}
NEEDS_N: Final = {"inputSchema": {"type": "object", "required": ["n"]}}
PROMISES_N: Final = {"outputSchema": {"type": "object", "required": ["m"]}}
SCOPED: Final = {"_meta": {"io.sayso/intent": {"scopes": ["customers.write"]}}}
DRY: Final = {
    "inputSchema": {"type": "object", "properties": {"dry": {"type": "boolean"}}},
    "dry_run": "dry",
}
PLAN: Final = giving(["a"])
HOLDS: Final = giving(True)  # noqa: FBT003 - what an author's function gives
FAILS: Final = giving(False)  # noqa: FBT003 - as above
NARROWER: Final = {"narrow": giving(Hints(read_only=True))}
WIDER: Final = {"narrow": giving(Hints(destructive=True))}
DENY: Final = '[[rules]]\nname = "no"\neffect = "deny"'
ONCE: Final = "[limits]\ncalls_per_minute = 1"

START: Final = "find validate"
JUDGED: Final = f"{START} decide outcome"
RUN: Final = "attempt execute"
WROTE: Final = f"{JUDGED} output {RUN}"


def search(most: Level) -> dict[str, Any]:
    """A call through a meta-tool that changes no more than this."""
    return {"through": Through("call_read_tool", most, "t")}


def refuses(_: Any) -> Any:
    raise DeniedError("the customer is gone")


@dataclass(frozen=True)
class Case:
    """One call, or the same one several times, and the steps that it takes.

    `ends` are how the server ends each try, where it gives no answer; `says` is a person's answer,
    if one is given. `stops` cancels the call while it is with its server, or with a person.
    """

    name: str
    steps: str
    annotations: Any = field(default_factory=lambda: READ)
    tool: Mapping[str, Any] = field(default_factory=dict[str, Any])
    call: Mapping[str, Any] = field(default_factory=dict[str, Any])
    policy: str = ""
    ends: Sequence[Exception] = ()
    says: bool | None = None
    stops: str = ""
    times: int = 1
    has_turn: bool = False
    wants: str = "t"
    who: Principal = AMY


CASES: Final = (
    Case("a read", f"{JUDGED} output retry {RUN}"),
    Case("a write", WROTE, WRITE),
    Case("a write that may be repeated", f"{JUDGED} output retry {RUN}", AGAIN),
    Case("yes", f"{JUDGED} output confirm {RUN}", DELETE, says=True),
    Case("no", f"{JUDGED} output confirm", DELETE, says=False),
    Case("no answer", f"{JUDGED} output confirm", DELETE),
    Case("no answer, twice", " ".join([f"{JUDGED} output confirm"] * 2), DELETE, times=2),
    Case("denied", f"{JUDGED} output confirm", policy=DENY),
    Case("denied with a key", f"{JUDGED} output confirm", call=KEY, policy=DENY),
    Case("at its limit", f"{WROTE} {JUDGED} output confirm", WRITE, policy=ONCE, times=2),
    Case("hidden", "find", tool=SCOPED, who=EVE),
    Case("not there", "find", wants="another"),
    Case("a caller who is switched off", "find", policy='[off]\nsubjects = ["local"]'),
    Case("invalid arguments", START, tool=NEEDS_N),
    Case("invalid arguments of a search", START, tool=NEEDS_N, call=search(Level.READ)),
    Case("a key", f"{JUDGED} repeat output {RUN}", WRITE, call=KEY),
    Case("a key, twice", f"{JUDGED} repeat output {RUN} {JUDGED} repeat", WRITE, call=KEY, times=2),
    Case("an invalid key", f"{JUDGED} repeat", WRITE, call={"meta": {META_KEY: 1}}),
    Case("a key, not sent", f"{JUDGED} repeat output {RUN}", WRITE, call=KEY, ends=[AWAY]),
    Case("a plan", f"{JUDGED} plan output confirm {RUN}", DELETE, {"plan": PLAN}, says=True),
    Case("a plan that is refused", f"{JUDGED} plan", DELETE, {"plan": refuses}),
    Case("a plan that is not needed", WROTE, WRITE, {"plan": PLAN}),
    Case("a dry run", f"{JUDGED} plan output confirm {RUN}", DELETE, DRY, says=True),
    Case("a condition that holds", f"{JUDGED} precondition output {RUN}", WRITE, {"when": HOLDS}),
    Case("a condition that fails", f"{JUDGED} precondition", WRITE, {"when": FAILS}),
    Case("narrower", f"{START} narrow decide outcome output retry {RUN}", DELETE, NARROWER),
    Case("wider", f"{START} narrow", WRITE, WIDER),
    Case("through a search", f"{JUDGED} ceiling output retry {RUN}", call=search(Level.READ)),
    Case("above a search", f"{JUDGED} ceiling", WRITE, call=search(Level.READ)),
    Case("in turn", f"{START} serialize decide outcome output {RUN}", WRITE, has_turn=True),
    Case("a second try", f"{JUDGED} output retry {RUN} {RUN}", ends=[LOST]),
    Case("three tries", f"{JUDGED} output retry {RUN} {RUN} {RUN}", ends=[LOST, LOST, LOST]),
    Case("lost", WROTE, WRITE, ends=[LOST]),
    Case("a protocol error", WROTE, WRITE, ends=[RpcError(-32602, "no")]),
    Case("a crash of the tool", WROTE, WRITE, ends=[CrashError()]),
    Case("an error of ours", WROTE, WRITE, ends=[ZeroDivisionError()]),
    Case("a broken promise", WROTE, WRITE, PROMISES_N),
    Case("stopped as it runs", WROTE, WRITE, stops="run"),
    Case("stopped as it waits", f"{JUDGED} output confirm", DELETE, stops="wait"),
)  # fmt: skip


@dataclass
class Notes:
    """An observer: the steps of each call, and how it ended."""

    steps: list[str] = field(default_factory=list[str])
    ends: list[str] = field(default_factory=list[str])

    def watch(self, _: Call) -> "Notes":
        return self

    def reach(self, step: str) -> None:
        self.steps.append(step)

    def end(self, answer: dict[str, Any] | None, error: BaseException | None) -> None:
        self.ends.append(steady(answer) if error is None else type(error).__name__)


@dataclass(frozen=True)
class Seen:
    """The results of one run of a case: answers, steps, records, and sent calls."""

    answers: list[str]
    steps: list[str]
    records: list[str]
    sent: int


def steady(value: object) -> str:
    """A value as text, without the ids and digests of a single run."""
    text = json.dumps(value, sort_keys=True, default=str)
    text = re.sub(r"incident [0-9a-f]{12}", "incident", text)
    if '"incident"' in text:
        # The answer names the incident, so its digest is of this run alone.
        text = re.sub(r'"result_digest": "[0-9a-f]+"', '"result_digest"', text)
    return re.sub(r'"(incident|dry_run_of)": "[0-9a-f]+"', r'"\1"', text)


def noted(step: Step | WrappingStep, steps: list[str]) -> Step | WrappingStep:
    """Return the step, which also notes that it runs."""
    if isinstance(step, WrappingStep):
        wrap = step.run

        async def around(guard: GuardContext, call: Call, then: Then) -> dict[str, Any]:
            steps.append(step.name)
            return await wrap(guard, call, then)

        return replace(step, run=around)
    check = step.run

    async def alone(guard: GuardContext, call: Call) -> dict[str, Any] | None:
        steps.append(step.name)
        return await check(guard, call)

    return replace(step, run=alone)


def ending(case: Case) -> Callable[[Call], dict[str, Any]]:
    """A server that ends its first tries as the case says, and answers the others."""
    ends = [*case.ends]

    def answer(call: Call) -> dict[str, Any]:
        if ends:
            error = ends.pop(0)
            call.is_sent = not isinstance(error, UnreachableError)
            raise error
        return {"content": [{"type": "text", "text": "done"}], "structuredContent": {"n": 1}}

    return answer


async def call_once(guard: Guard, case: Case) -> str:
    """The answer to the call, or the error that it ends with."""
    turn = CallQueue().draw() if case.has_turn else None
    try:
        return steady(await guard.call(case.who, case.wants, {}, turn=turn, **case.call))
    except (RpcError, UnknownToolError) as error:
        return f"{type(error).__name__}: {error}"
    except anyio.get_cancelled_exc_class():
        return "cancelled"


async def play(world: World, guard: Guard, case: Case) -> list[str]:
    """All answers of a case."""
    answers: list[str] = []

    async def call() -> None:
        for _ in range(case.times):
            answers.append(await call_once(guard, case))  # noqa: PERF401 - it is cancelled

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(call)
            if case.says is not None:
                await asked(guard)
                said = yes() if case.says else Said(is_allowed=False, by="bob", channel="console")
                await guard.approvals.answer(1, said)
            elif case.stops:
                await (world.starts.wait() if case.stops == "run" else asked(guard))
                group.cancel_scope.cancel()
    return answers


async def run(case: Case, path: Path, observer: Notes | None) -> Seen:
    """Run a case in a world of its own."""
    world = World(open_store(f"sqlite:{path}"))
    world.add("t", case.annotations, **case.tool)
    world.policy = load_policy(case.policy, "policy.toml")
    world.answer = ending(case)
    world.hangs = case.stops == "run"
    patience = 0.05 if case.says is None and not case.stops else 30.0
    guard = world.timed(patience=patience, watch=observer and observer.watch)
    steps: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "STEPS", tuple(noted(step, steps) for step in pipeline.STEPS))
        answers = await play(world, guard, case)
    rows = [merged(row) for row in reversed(await world.store.records.newest())]
    records = [f"{row.event} {row.at} {steady(json.loads(row.body))}" for row in rows]
    await world.store.close()
    return Seen(answers, steps, records, len(world.ran))


@pytest.fixture(autouse=True)
def at_once() -> Iterator[None]:
    """Tries follow one another without a pause."""
    with stamina.set_testing(testing=True, attempts=3):
        yield


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_an_observer_changes_neither_answer_nor_record_nor_steps(
    case: Case, tmp_path: Path
) -> None:
    observer = Notes()
    alone = await run(case, tmp_path / "alone.db", None)
    observed = await run(case, tmp_path / "observed.db", observer)
    assert alone == observed
    assert observer.steps == observed.steps
    assert len(observer.ends) == case.times
    assert alone.steps == case.steps.split()


def test_every_step_is_taken_by_some_call() -> None:
    taken = {name for case in CASES for name in case.steps.split()}
    assert taken == {step.name for step in pipeline.STEPS}


def test_some_steps_are_taken_by_every_call() -> None:
    always = [step.name for step in pipeline.STEPS if step.applies is every_call]
    assert always == [
        "find", "validate", "decide", "outcome", "output", "attempt", "execute"
    ]  # fmt: skip
