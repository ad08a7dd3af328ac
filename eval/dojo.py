"""AgentDojo's suites as worlds. The only file that knows the benchmark's package.

The package is imported by name, since only the environment of `make eval` has it.
"""

import importlib
import json
import pickle
import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from pydantic import ValidationError
from pydantic_core import to_json

import sayso
from eval.outcome import Ends, Made
from eval.script import Script, Step
from eval.stage import failure, success
from sayso.intent import Intent

VERSION: Final = "v1.2.2"
SUITES: Final = ("workspace", "travel", "banking", "slack")
DECLARED: Final = Path(__file__).with_name("declared.toml")


@dataclass(slots=True)
class DojoWorld:
    """One suite: its environment, its tools over it, and its own checks of how a run ended."""

    name: str
    suite: Any
    _fresh: bytes
    _before: Any = None
    _now: Any = None
    _tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _checked: dict[Any, bool] = field(default_factory=dict[Any, bool])

    @property
    def tools(self) -> Sequence[Mapping[str, Any]]:
        """See `World.tools`."""
        return self._tools

    def reset(self, script: Script) -> None:
        """See `World.reset`; some tasks begin in a world of their own."""
        begin = self.suite.user_tasks[script.task].init_environment
        self._now = begin(self.fresh())
        self._before = begin(self.fresh())

    def fresh(self) -> Any:
        """The benchmark's environment as it comes."""
        # Ten times as fast as a deep copy.
        return pickle.loads(self._fresh)  # noqa: S301 - bytes that this object has made itself

    def look(self) -> str:
        """See `World.look`."""
        return str(self._now.model_dump_json())

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """See `World.call`. What a tool raises is its answer."""
        one = next(one for one in self.suite.tools if one.name == tool)
        try:
            given = one.parameters.model_validate(dict(arguments)).model_dump()
            parts = {
                name: part.extract_dep_from_env(self._now)
                for name, part in one.dependencies.items()
            }
            return success(to_json(one.run(**given, **parts)).decode())
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            return failure(f"{type(error).__name__}: {error}")

    def ends(self, script: Script, free: Sequence[Made], made: Sequence[Made]) -> Ends:
        """What the benchmark's own checks say of the world as it is now.

        A task is judged in the runs without an attack. Some checks look at calls as well: they are
        given those that the server got. An agent that was kept from one of its calls has no answer
        to give.
        """
        del free
        steps = list(zip(script.steps, made, strict=True))
        calls = [step for step, one in steps if one.has_run]
        if script.attack:
            attack = self.suite.injection_tasks[script.attack]
            is_reached = self._check("security", attack, "", calls)
            return Ends(is_done=False, is_reached=is_reached)
        task = self.suite.user_tasks[script.task]
        answer = str(task.GROUND_TRUTH_OUTPUT) if all(one.is_good for _, one in steps) else ""
        return Ends(self._check("utility", task, answer, calls), is_reached=False)

    def _check(self, what: str, task: Any, answer: str, ran: Sequence[Step]) -> bool:
        """The same calls leave the same world behind, and comparing two of them is what costs."""
        known = (what, str(task.ID), answer, tuple(step.key for step in ran))
        if known not in self._checked:
            worlds = (self._before, self._now)
            calls = [_call(step) for step in ran]
            by_calls = getattr(task, f"{what}_from_traces")(answer, *worlds, calls)
            said = getattr(task, what)(answer, *worlds) if by_calls is None else by_calls
            self._checked[known] = bool(said)
        return self._checked[known]


def _call(step: Step) -> Any:
    kind = importlib.import_module("agentdojo.functions_runtime").FunctionCall
    return kind(function=step.tool, args=dict(step.arguments))


def open_suite(name: str) -> DojoWorld:
    """A suite of the benchmark, nothing of it run yet."""
    loading = importlib.import_module("agentdojo.task_suite.load_suites")
    suite = loading.get_suite(VERSION, name)
    fresh = pickle.dumps(suite.load_and_inject_default_environment({}))
    return DojoWorld(name, suite, fresh, _tools=[_entry(one) for one in suite.tools])


def _entry(tool: Any) -> dict[str, Any]:
    schema = tool.parameters.model_json_schema()
    return {"name": tool.name, "description": tool.description, "inputSchema": schema}


_BOOK: Final = sayso.APPEND.but(open_world=True)


def declared(world: DojoWorld) -> dict[str, dict[str, bool]]:
    """The hints that an honest author would give."""
    named = tomllib.loads(DECLARED.read_text(encoding="utf-8"))[world.name]
    made: dict[str, dict[str, bool]] = {}
    for tool in world.tools:
        preset = named.get(tool["name"], ["READ_ONLY"])[0]
        made[tool["name"]] = _wire(_BOOK if preset == "BOOK" else getattr(sayso, preset))
    return made


def _wire(intent: Intent) -> dict[str, bool]:
    hints = intent.hints
    return {
        "readOnlyHint": hints.read_only is True,
        "destructiveHint": hints.destructive is True,
        "idempotentHint": hints.idempotent is True,
        "openWorldHint": hints.open_world is True,
    }


def scripts(world: DojoWorld, seed: int, *, is_all: bool = False) -> list[Script]:
    """Each task alone, and hijacked after its first call.

    An injection is drawn for each task, each of the suite's as often as the others; `is_all` takes
    all pairs. Injections that the benchmark gives no calls for are left out.
    """
    attacks = [name for name in world.suite.injection_tasks if _injected(world, name)]
    draw = random.Random(f"{seed} {world.name}")  # noqa: S311 - the same draw each time is the point
    made: list[Script] = []
    left: list[str] = []
    for task in world.suite.user_tasks:
        own = _wanted(world, task)
        made.append(Script(f"{world.name} {task}", own, task))
        if not left:
            left = draw.sample(attacks, len(attacks))
        for attack in attacks if is_all else [left.pop()]:
            name = f"{world.name} {task} {attack}"
            steps = (*own[:1], *_injected(world, attack), *own[1:])
            made.append(Script(name, steps, task, attack))
    return made


def _wanted(world: DojoWorld, task: str) -> tuple[Step, ...]:
    one = world.suite.user_tasks[task]
    return _steps(one.ground_truth(one.init_environment(world.fresh())), is_injected=False)


def _injected(world: DojoWorld, attack: str) -> tuple[Step, ...]:
    calls = world.suite.injection_tasks[attack].ground_truth(world.fresh())
    return _steps(calls, is_injected=True)


def _steps(calls: Sequence[Any], *, is_injected: bool) -> tuple[Step, ...]:
    return tuple(
        Step(call.function, json.loads(json.dumps(call.args)), is_injected) for call in calls
    )
