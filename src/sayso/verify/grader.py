"""Grading of calls' effects, using facts that are known only after all calls of a run."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, Final, cast

from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.call import MadeCall
from sayso.verify.grade.context import CallContext, path_of, thing_of
from sayso.verify.grade.lifetime import grade_all

_WRITES: Final = frozenset({Kind.CREATE, Kind.WRITE, Kind.APPEND})
_LEAST_TOOLS: Final = 3
"""The minimum number of tools that must write to a place before it counts as usual."""


@dataclass(slots=True)
class Grader:
    """Grades the effects of calls, of any server. Paths are relative to `cwd`.

    `learn` sets most fields. `usual` are the places to which calls of every tool add a line.
    `shown` are the results by tool. `readers` are the tools declared read-only; `habitual` are the
    files that most readers write. `kept` are the files in which a call changed user data.
    """

    cwd: str | None = None
    usual: frozenset[str] | None = None
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    readers: frozenset[str] = frozenset()
    habitual: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def learn(self, made: Sequence[MadeCall]) -> None:
        """Learn from all calls and their grades, before the calls are graded again."""
        self.kept = frozenset(
            path_of(effect)
            for call in made
            for effect in call.effects
            if effect.life is Life.USER and effect.observer in (Observer.FILES, Observer.SQLITE)
        )
        self.habitual = _habitual(made, self.readers)
        texts: dict[str, str] = {}
        places = defaultdict[str, set[str]](set)
        for call in made:
            texts[call.tool] = f"{texts.get(call.tool, '')}\n{call.text}"
            for effect in call.raw:
                if effect.kind in (Kind.INSERT, Kind.APPEND):
                    places[thing_of(effect)].add(call.tool)
        self.shown = texts
        usual = {
            thing
            for thing, tools in places.items()
            if len(tools) == len(texts) and len(tools) >= _LEAST_TOOLS
        }
        self.usual = frozenset(usual) or None

    def grade(
        self,
        server: CallContext,
        effects: Sequence[Effect],
        name: str,
        arguments: Mapping[str, Any],
        *,
        control: Sequence[Effect],
    ) -> tuple[Effect, ...]:
        """Merge and grade the effects of one call of the tool `name`; `server` has the places."""
        context = replace(
            server,
            tool_name=name,
            arguments=arguments,
            argument_paths=server.argument_paths | _paths(arguments, self.cwd),
            control=tuple(control),
            usual=self.usual,
            habitual=self.habitual,
            kept=self.kept,
            is_reading=name in self.readers,
            shown=tuple(text for tool, text in self.shown.items() if tool != name),
        )
        return grade_all(effects, context)


def _habitual(made: Sequence[MadeCall], readers: frozenset[str]) -> frozenset[str]:
    """Return the files that at least half of the `readers`, and at least three of them, write."""
    called = {call.tool for call in made if call.tool in readers}
    places = defaultdict[str, set[str]](set)
    for call in made:
        for effect in call.raw:
            is_write = effect.observer is Observer.FILES and effect.kind in _WRITES
            if is_write and call.tool in called:
                places[effect.target].add(call.tool)
    minimum = max(_LEAST_TOOLS, len(called) / 2)
    return frozenset(path for path, tools in places.items() if len(tools) >= minimum)


def _paths(value: Any, cwd: str | None) -> frozenset[str]:
    found: set[str] = set()
    if isinstance(value, str) and value and "\0" not in value and "://" not in value:
        found.add(str(PurePosixPath(cwd or "/") / value))
    elif isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            found |= _paths(item, cwd)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            found |= _paths(item, cwd)
    return frozenset(found)
