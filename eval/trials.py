"""What there is to measure: each suite of the benchmark, the demo, and servers of other people."""

import importlib.util
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from eval import dojo
from eval.folders import FILES_SERVER, open_files, open_git
from eval.labels import DECLARED, NONE, Label
from eval.measure import Trial
from eval.person import KNOWS, NOBODY, WORN
from eval.served import UNLISTED, ServedWorld
from eval.studio import REPERTOIRE, open_studio
from eval.traces import Repertoire, make_scripts

DOJO: Final = tuple(f"dojo-{name}" for name in dojo.SUITES)
TRIALS: Final = ("git", *DOJO, "files", "demo")
"""What takes longest comes first, so that two at a time end at about the same time."""

EACH: Final = {"git": 2, "files": 3, "demo": 3}
"""How many hijacked runs of each kind; one call to git costs as much as many to the others."""


def missing(name: str) -> str | None:
    """What a trial needs that is not here."""
    if name in DOJO and importlib.util.find_spec("agentdojo") is None:
        return "the package agentdojo, which `make eval` brings along"
    if name == "files" and not (FILES_SERVER.is_file() and shutil.which("node")):
        return "node and the servers from npm, which `make setup` fetches"
    if name == "git" and shutil.which("git") is None:
        return "git"
    return None


@asynccontextmanager
async def open_trial(name: str, seed: int, *, is_all: bool = False) -> AsyncGenerator[Trial]:
    """A trial by its name."""
    if name in DOJO:
        world = dojo.open_suite(name.removeprefix("dojo-"))
        yield Trial(world, dojo.scripts(world, seed, is_all=is_all), dojo.declared(world))
    elif name == "demo":
        async with open_studio() as studio:
            yield _traced(studio, REPERTOIRE, seed)
    else:
        async with (open_files if name == "files" else open_git)() as (served, repertoire):
            yield _traced(served, repertoire, seed)


def _traced(world: ServedWorld, repertoire: Repertoire, seed: int) -> Trial:
    return Trial(
        world,
        make_scripts(world.name, repertoire, seed, each=EACH[world.name]),
        world.declared,
        labellings=(DECLARED, NONE),
        people=(KNOWS, WORN, NOBODY),
        odd={UNLISTED: Label(UNLISTED, is_listed=False)},
    )
