"""A box without containment, for `--uncontained`: private folders, but no isolation."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sayso.errors import UsageError
from sayso.sandbox.copies import copy_tree, fixture_path
from sayso.sandbox.executables import find_program
from sayso.sandbox.layout import in_home, make_home, replace_world
from sayso.sandbox.mount import Place, Role
from sayso.sandbox.programs import Programs
from sayso.sandbox.spec import CONTAINING, Box, Layer, SandboxSpec
from sayso.sandbox.start import ending_words, environment_inside, strace_words


def make_uncontained(
    spec: SandboxSpec,
    folder: Path,
    probed: Sequence[Layer],
    *,
    programs: Programs,
    trace: Path | None,
) -> Box:
    """Return a box with private folders and no isolation. Raises what `open_box` raises."""
    if spec.prepared is not None:
        fix = "Install the server yourself and name its command, or leave out --uncontained."
        raise UsageError("--uncontained cannot run a prepared package", fix=fix)
    home = make_home(folder)
    temporary = folder / "tmp"
    temporary.mkdir()
    places = [Place(str(home), home, Role.HOME), Place(str(temporary), temporary, Role.TEMPORARY)]
    notes: list[str] = []
    for fixture in spec.fixtures:
        path = fixture_path(fixture)
        places.append(Place(str(path), path, Role.FIXTURE))
        notes.append(f"{path}: not copied; the server works on the original")
    copies = [_copy(folder / "worlds" / inside.strip("/"), host) for inside, host in spec.worlds]
    places += copies
    own = [in_home(path, str(home)) for path in spec.own]
    places += [Place(path, Path(path), Role.OWN) for path in own]
    world = next((place.inside for place in copies), None)
    search = spec.env.get("PATH") or os.environ.get("PATH", os.defpath)
    words = replace_world(spec.command, world)
    program = str(find_program(words[0], search=search, cwd=Path.cwd()))
    return Box(
        command=(
            *(*ending_words(programs), *strace_words(programs.strace, trace)),
            *(program, *words[1:]),
        ),
        env=environment_inside(str(home), search, spec.env, temporary=str(temporary)),
        cwd=spec.cwd or world,
        places=tuple(places),
        layers=tuple(_layer(layer) for layer in probed),
        trace=trace,
        home=str(home),
        world=world,
        server=(program, *words[1:]),
        notes=tuple(notes),
    )


def _copy(target: Path, template: Path) -> Place:
    target.parent.mkdir(parents=True, exist_ok=True)
    copy_tree(template, target)
    return Place(str(target), target, Role.FIXTURE)


def _layer(probed: Layer) -> Layer:
    if probed.name in CONTAINING - {"private"} or probed.name in ("filter", "limits", "overlay"):
        return replace(probed, is_active=False, detail="--uncontained")
    return probed
