"""Controls: runs on fresh state that may explain an effect without the tool.

An effect was reproduced. Before the tool is accused of it, two questions are asked:

- Does the first call of another tool have the same effect? Then the effect belongs to the start of
  the server, which happens to come late.
- Does a file come back that was deleted, and only then? Then the file is a cache of data that is
  still there.

If the call failed, it must also have the effect again, and another tool must not.
"""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Final

from sayso.errors import SaysoError
from sayso.trace import Effect, Kind
from sayso.verify.call import Case, MadeCall
from sayso.verify.concurrent import do_all
from sayso.verify.grade.context import path_of, thing_of
from sayso.verify.grade.lifetime import OUTWARD
from sayso.verify.judge import Confirmed
from sayso.verify.suspicion import Cleared, Suspicion
from sayso.verify.trial import StartServer, Trial, play

AT_START: Final = "another tool's first call does the same, so it belongs to the server's start"
A_CACHE: Final = "what it wrote is a cache: it is written again only after it was deleted"
UNCLEAR: Final = "other tools' first calls reach out too, so calls cannot be told apart"
ONLY_FAILED: Final = "only failed calls had the effect, and nothing shows that the tool caused it"

_BEGINNINGS: Final = frozenset({Kind.CREATE, Kind.INSERT, Kind.SCHEMA, *OUTWARD})
"""Kinds of effects that a start may have. A start that changes or deletes user data is a lie."""


@dataclass(frozen=True, slots=True)
class FirstCalls:
    """The effects of calls that are each the first on a fresh server. Each call is made once."""

    start_server: StartServer
    made: dict[str, Sequence[Effect]] = field(default_factory=dict[str, Sequence[Effect]])

    async def of(self, call: tuple[str, Case]) -> Sequence[Effect]:
        """Return the effects of a call; none if the server cannot be started for it."""
        name, case = call
        key = json.dumps([name, case.arguments], sort_keys=True)
        if key not in self.made:
            try:
                (made,) = await play(self.start_server, [call])
            except SaysoError:
                return ()
            self.made[key] = made.effects
        return self.made[key]


@dataclass(frozen=True, slots=True)
class Control:
    """The controls of one confirmed suspicion."""

    suspicion: Suspicion
    trial: Trial
    first_calls: FirstCalls

    async def judge(self, confirmed: Confirmed) -> Confirmed | Cleared | str:
        """Return what is left of a confirmation, or why the tool is not to blame."""
        name = self.suspicion.name
        instead = await do_all(self.first_calls.of, self.suspicion.harmless)
        effects = list(confirmed.evidence)
        if name in ("read_only", "open_world"):
            effects = without_start(effects, instead)
            if not effects:
                return UNCLEAR if name == "open_world" else Cleared(AT_START)
        if name == "read_only" and await self._is_cache(effects):
            return Cleared(A_CACHE)
        if not self.trial.is_success and not await self._is_its_own(effects):
            return ONLY_FAILED
        return replace(confirmed, evidence=tuple(effects))

    async def _is_its_own(self, effects: Sequence[Effect]) -> bool:
        """Return whether the tool has the effects once more, and no other tool has them."""
        others = self.suspicion.harmless or self.suspicion.others
        instead = await do_all(self.first_calls.of, others)
        things = {_thing(effect) for effect in effects}
        if not instead or any(_thing(effect) in things for seen in instead for effect in seen):
            return False
        return bool(await self.trial.run(self._way()))

    def _way(self) -> list[tuple[str, Case]]:
        made = self.suspicion.made
        return [(made.tool, made.case)] * self.suspicion.times

    async def _is_cache(self, effects: Sequence[Effect]) -> bool:
        """Return whether every effect is a file that comes back the same, but only when deleted."""
        paths = {path_of(effect) for effect in effects}
        made = self.suspicion.made
        if not all(_looks_like_cache(effect, made) for effect in effects):
            return False
        try:
            async with self.trial.start_server() as server:
                await server.idle()
                first = await server.linger(await server.call(made.tool, made.case))
                second = await server.linger(await server.call(made.tool, made.case))
                if not paths <= _created(first) or paths & _touched(second):
                    return False
                if not all(_delete(server.host(path)) for path in _tops(paths)):
                    return False
                third = await server.linger(await server.call(made.tool, made.case))
                return second.text == third.text and paths <= _created(third)
        except SaysoError:
            return False


def without_start(effects: Sequence[Effect], instead: Sequence[Sequence[Effect]]) -> list[Effect]:
    """Drop the effects that every tool called instead had too, and as often.

    Rows count by their table, since a start may give them random keys.
    """
    counts = [Counter(map(_thing, seen)) for seen in instead]
    rest: list[Effect] = []
    # Effects on exactly what the others changed are dropped first.
    targets = {effect.target for seen in instead for effect in seen}
    for effect in sorted(effects, key=lambda effect: effect.target not in targets):
        thing = _thing(effect)
        if effect.kind in _BEGINNINGS and counts and all(count[thing] for count in counts):
            for count in counts:
                count[thing] -= 1
        else:
            rest.append(effect)
    return rest


def _looks_like_cache(effect: Effect, made: MadeCall) -> bool:
    """Return whether a new file may be a cache: kept apart, and not named by the call.

    The folder's name is not enough: the file must also come back when it is deleted.
    """
    path = PurePosixPath(effect.target)
    is_apart = any(part.startswith(".") or "cache" in part.lower() for part in path.parts)
    is_named = path.name in made.text or path.name in str(made.case.arguments)
    return effect.kind is Kind.CREATE and not effect.is_failed and is_apart and not is_named


def _thing(effect: Effect) -> tuple[Kind, str]:
    return effect.kind, thing_of(effect)


def _created(made: MadeCall) -> set[str]:
    return {effect.target for effect in made.effects if effect.kind is Kind.CREATE}


def _touched(made: MadeCall) -> set[str]:
    return {path_of(effect) for effect in (*made.raw, *made.effects)}


def _tops(paths: set[str]) -> list[str]:
    """Return the paths that lie below no other."""
    return [
        path
        for path in paths
        if not any(PurePosixPath(path).is_relative_to(other) for other in paths - {path})
    ]


def _delete(path: Path | None) -> bool:
    """Delete a file or folder, and return whether it is gone."""
    try:
        if path is None or path.is_symlink():
            return False
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return False
    return True
