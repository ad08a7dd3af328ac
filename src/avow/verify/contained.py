"""A server in containment, started as often as needed: each time in a box of its own, watched."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

from avow.connect import CommandTarget
from avow.verify.call import Made
from avow.verify.contain.box import open_box
from avow.verify.contain.wish import Box, Wish
from avow.verify.effect import Effect, Kind
from avow.verify.grade.life import grade_all
from avow.verify.grade.scene import Scene, thing_of
from avow.verify.inputs.world.web import Site
from avow.verify.layers import Layer
from avow.verify.observe.files import open_files
from avow.verify.observe.site import SiteWatcher
from avow.verify.observe.sqlite import open_sqlite
from avow.verify.observe.syscalls.watcher import SyscallWatcher
from avow.verify.stage import Rest, Stage, open_stage
from avow.verify.terms import Terms
from avow.verify.watch import Watcher

_LEAST_TOOLS: Final = 3
"""By how many tools something must be left before it counts as what every call leaves."""


@dataclass(slots=True)
class Contained:
    """What is needed to start the server again. `layers` are those that were found to work.

    `holding` and `observing` are what was active in the box that was opened last. `usual` and
    `shown` are what is known once all tools were called: where each of them leaves a line, and
    what they tell.
    """

    terms: Terms
    wish: Wish
    layers: Sequence[Layer]
    site: Site | None = None
    usual: frozenset[str] | None = None
    shown: Mapping[str, str] = field(default_factory=dict[str, str])
    holding: tuple[Layer, ...] = ()
    observing: tuple[Layer, ...] = ()
    scene: Scene | None = None
    notes: tuple[str, ...] = ()

    @asynccontextmanager
    async def stage(self, *, number: int = 0) -> AsyncGenerator[Stage]:
        """Start it in a fresh box, which goes with all in it. Raises what starting raises."""
        async with AsyncExitStack() as stack:
            box = await stack.enter_async_context(open_box(self.wish, self.layers))
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="avow-seen-")))
            watchers, rest = _watch(box, folder, self.site)
            target = CommandTarget(
                self.terms.target.name, box.command[0], box.command[1:], box.env, box.cwd
            )
            self.scene = Scene(
                box.places,
                "",
                allowed=frozenset(self.wish.allowed),
                argument_paths=frozenset(one for one in box.server[1:] if one.startswith("/")),
            )
            stage = await stack.enter_async_context(
                open_stage(
                    target,
                    watchers=watchers,
                    rest=rest,
                    grade=self._grade,
                    timeout=self.terms.timeout,
                    number=number,
                )
            )
            self.holding = tuple(one for one in box.layers if one.name != "syscalls")
            self.observing = tuple(one.layer for one in watchers)
            self.notes = box.notes
            yield stage

    def learn(self, made: Sequence[Made]) -> None:
        """Take in what is known once all tools were called."""
        texts: dict[str, str] = {}
        places: dict[str, set[str]] = {}
        for one in made:
            texts[one.tool] = f"{texts.get(one.tool, '')}\n{one.text}"
            left = [effect for effect in one.raw if effect.kind in (Kind.INSERT, Kind.APPEND)]
            for effect in left:
                places.setdefault(thing_of(effect), set()).add(one.tool)
        self.shown = texts
        usual = {
            thing
            for thing, tools in places.items()
            if len(tools) == len(texts) and len(tools) >= _LEAST_TOOLS
        }
        self.usual = frozenset(usual) or None

    def again(self, made: Made) -> Made:
        """A call graded again, by all that is known now."""
        graded = self._grade(made.raw, made.tool, made.case.arguments, control=made.control)
        return replace(made, effects=graded)

    def _grade(
        self,
        effects: Sequence[Effect],
        name: str,
        arguments: Mapping[str, Any],
        *,
        control: Sequence[Effect],
    ) -> tuple[Effect, ...]:
        assert self.scene is not None  # noqa: S101 - effects come from a box that was opened
        scene = replace(
            self.scene,
            tool_name=name,
            arguments=arguments,
            argument_paths=self.scene.argument_paths | _paths(arguments, self.wish.cwd),
            control=tuple(control),
            usual=self.usual,
            shown=tuple(text for tool, text in self.shown.items() if tool != name),
        )
        return grade_all(effects, scene)


def _watch(box: Box, folder: Path, site: Site | None) -> tuple[list[Watcher], Rest]:
    """All observers of one box, and what waits for its server to rest."""
    watchers: list[Watcher] = [open_files(box.places, folder), open_sqlite(box.places, folder)]
    if site is not None:
        watchers.append(SiteWatcher(site))
    if box.trace is None:
        raise NotImplementedError
    syscalls = SyscallWatcher(box.trace, box.places)
    return [syscalls, *watchers], syscalls.rest


def _paths(value: Any, cwd: str | None) -> frozenset[str]:
    """The paths that arguments may name, as the server sees them."""
    found: set[str] = set()
    if isinstance(value, str) and value and "\0" not in value and "://" not in value:
        found.add(str(PurePosixPath(cwd or "/") / value))
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            found |= _paths(one, cwd)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            found |= _paths(one, cwd)
    return frozenset(found)
