"""Grades the effects of calls in one context, and learns from all calls what each effect means."""

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
"""By how many tools something must be left before it counts as what every call leaves."""


@dataclass(slots=True)
class Grader:
    """`context` is that of the stage that was opened last; paths are relative to `cwd`.

    `usual` and `shown` are what is known once all tools were called: where each of them leaves a
    line, and what they tell. `readers` are the tools that are declared to read, and `habitual`
    files that most of them write; `kept` are files in which a call left what other tools show.
    """

    cwd: str | None = None
    context: CallContext = field(default_factory=lambda: CallContext((), ""))
    usual: frozenset[str] | None = None
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    readers: frozenset[str] = frozenset()
    habitual: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()

    def learn(self, made: Sequence[MadeCall]) -> None:
        """Take in what is known once all tools were called, and again when that is graded."""
        self.kept = frozenset(
            path_of(effect)
            for call in made
            for effect in call.effects
            if effect.life is Life.USER and effect.observer in (Observer.FILES, Observer.SQLITE)
        )
        self.habitual = _habitual(made, self.readers)
        texts: dict[str, str] = {}
        places: dict[str, set[str]] = {}
        for call in made:
            texts[call.tool] = f"{texts.get(call.tool, '')}\n{call.text}"
            left = [effect for effect in call.raw if effect.kind in (Kind.INSERT, Kind.APPEND)]
            for effect in left:
                places.setdefault(thing_of(effect), set()).add(call.tool)
        self.shown = texts
        usual = {
            thing
            for thing, tools in places.items()
            if len(tools) == len(texts) and len(tools) >= _LEAST_TOOLS
        }
        self.usual = frozenset(usual) or None

    def again(self, made: MadeCall) -> MadeCall:
        """A call graded again, by all that is known now."""
        graded = self.grade(made.raw, made.tool, made.case.arguments, control=made.control)
        return replace(made, effects=graded)

    def grade(
        self,
        effects: Sequence[Effect],
        name: str,
        arguments: Mapping[str, Any],
        *,
        control: Sequence[Effect],
    ) -> tuple[Effect, ...]:
        """The effects of one call, merged and graded: see `stage.Grade`."""
        context = replace(
            self.context,
            tool_name=name,
            arguments=arguments,
            argument_paths=self.context.argument_paths | _paths(arguments, self.cwd),
            control=tuple(control),
            usual=self.usual,
            habitual=self.habitual,
            kept=self.kept,
            is_reading=name in self.readers,
            shown=tuple(text for tool, text in self.shown.items() if tool != name),
        )
        return grade_all(effects, context)


def _habitual(made: Sequence[MadeCall], readers: frozenset[str]) -> frozenset[str]:
    """Files that the calls of at least half of the reading tools write, and of several."""
    called = {call.tool for call in made if call.tool in readers}
    places: dict[str, set[str]] = {}
    for call in made:
        if call.tool in called:
            for effect in call.raw:
                if effect.observer is Observer.FILES and effect.kind in _WRITES:
                    places.setdefault(effect.target, set()).add(call.tool)
    least = max(_LEAST_TOOLS, len(called) / 2)
    return frozenset(path for path, tools in places.items() if len(tools) >= least)


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
