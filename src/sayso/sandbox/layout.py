"""The folders of a box: private ones, copies, and what is visible of this machine."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sayso.errors import UsageError
from sayso.sandbox import bubblewrap
from sayso.sandbox.bind import Bind, is_system
from sayso.sandbox.copies import check_free, copy_tree, fixture_path
from sayso.sandbox.mount import Place, Role, place_of
from sayso.sandbox.overlay import mount_lines
from sayso.sandbox.root import Root, find_root
from sayso.sandbox.spec import SandboxSpec

_TEMPORARY: Final = {"/tmp": "tmp", "/var/tmp": "vartmp", "/dev/shm": "shm"}  # noqa: S108 - inside, and its own

XDG: Final = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".local/run",
}


@dataclass(slots=True)
class Layout:
    """The folders of a box while it is put together.

    `seen` are read-only paths inside with their sources; `places` are writable. `overlays` maps
    paths inside to mounted overlays, and `lines` are the shell commands that mount them.
    """

    folder: Path
    home: str
    root: Root
    world: str | None = None
    seen: list[tuple[str, Path]] = field(default_factory=list[tuple[str, Path]])
    places: list[Place] = field(default_factory=list[Place])
    overlays: dict[str, Path] = field(default_factory=dict[str, Path])
    lines: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def words(self) -> tuple[str, ...]:
        """Return bubblewrap's arguments for all mounts, outer folders first."""
        mounts = [(inside, "--ro-bind", source) for inside, source in self.seen]
        for place in self.places:
            source = self.overlays.get(place.inside, place.host)
            # Own state within another place is mounted with that place.
            if place.role is not Role.OWN or place.host.is_relative_to(self.folder / "own"):
                mounts.append((place.inside, "--bind", source))
        mounts.sort(key=lambda mount: mount[0].rstrip("/").count("/"))
        return tuple(word for inside, how, source in mounts for word in (how, str(source), inside))


def make_home(folder: Path) -> Path:
    """Create a private HOME with the XDG folders."""
    home = folder / "home"
    for name in XDG.values():
        (home / name).mkdir(parents=True, mode=0o700)
    return home


def in_home(path: str, home: str) -> str:
    """Return a path with a leading `~` replaced by `home`."""
    if not path.startswith("~"):
        return path
    return home + path[1:]


def lay_out(spec: SandboxSpec, folder: Path, *, has_overlay: bool) -> Layout:
    """Create a box's folders, and copies in place of originals. Raises what `find_root` raises."""
    copies = list(_copy_all(spec, folder))
    places = [Place(bubblewrap.HOME, make_home(folder), Role.HOME)]
    for inside, name in _TEMPORARY.items():
        (folder / name).mkdir()
        places.append(Place(inside, folder / name, Role.TEMPORARY))
    places += [place for place, _ in copies]
    world = next((inside for inside, _ in spec.worlds), None)
    layout = Layout(folder, bubblewrap.HOME, find_inside(spec, places, world), world)
    layout.places = places
    layout.notes = [note for _, notes in copies for note in notes]
    _add_binds(layout, spec, has_overlay=has_overlay)
    _add_own(layout, spec.own)
    return layout


def find_inside(spec: SandboxSpec, places: Sequence[Place], world: str | None) -> Root:
    """Return the root for the command, with `{world}` replaced by the world's path."""
    cwd = spec.cwd and os.path.abspath(spec.cwd)  # noqa: PTH100 - links stay
    if spec.prepared is not None:
        binds = tuple(map(Bind, spec.prepared.binds))
        words = replace_world(spec.prepared.command, world)
        return Root(words, binds, spec.prepared.search, cwd)
    root = find_root(
        replace_world(spec.command, world),
        search=spec.env.get("PATH") or os.environ.get("PATH", os.defpath),
        cwd=Path.cwd(),
        server_cwd=Path(cwd) if cwd and not _is_inside(places, Path(cwd)) else None,
    )
    return replace(root, cwd=cwd or root.cwd)


def _is_inside(places: Sequence[Place], folder: Path) -> bool:
    """Return whether a folder is in the box anyway, as a copy or within a private folder.

    A folder below this machine's /tmp is not, because the box has its own /tmp.
    """
    place = place_of(places, str(folder))
    if place is None:
        return False
    is_private = place.role is not Role.FIXTURE
    return not (is_private and folder.is_dir() and str(folder) != place.inside)


def replace_world(command: Sequence[str], world: str | None) -> tuple[str, ...]:
    """Replace `{world}` in a command. Raises `UsageError` if there is no world."""
    if world is None:
        if any("{world}" in word for word in command):
            raise UsageError("{world} has no value: there is no world", fix="Name a path.")
        return tuple(command)
    return tuple(word.replace("{world}", world) for word in command)


def _copy_all(spec: SandboxSpec, folder: Path) -> Iterator[tuple[Place, tuple[str, ...]]]:
    fixtures = [(str(path), path) for path in map(fixture_path, spec.fixtures)]
    for number, (inside, source) in enumerate([*fixtures, *spec.worlds]):
        check_free(Path(inside))
        copy = folder / "copies" / str(number)
        copy.parent.mkdir(exist_ok=True)
        yield Place(inside, copy, Role.FIXTURE), copy_tree(source, copy)


def _add_binds(layout: Layout, spec: SandboxSpec, *, has_overlay: bool) -> None:
    """Add what the command needs: read-only, and packages under an overlay if possible."""
    binds = [(str(entry.path), entry) for entry in layout.root.binds]
    if spec.prepared is not None:
        prepared = Bind(spec.prepared.folder, is_package=True)
        binds.append((spec.prepared.inside, prepared))
    copied = [place for place in layout.places if place.role is Role.FIXTURE]
    for number, (inside, bind) in enumerate(binds):
        if place_of(copied, inside) is not None:
            continue
        if not (bind.is_package and has_overlay and bind.path.is_dir()):
            layout.seen.append((inside, bind.path))
            continue
        layer = layout.folder / "layers" / str(number)
        layout.lines += mount_lines(bind.path, layer)
        layout.overlays[inside] = layer / "seen"
        layout.places.append(Place(inside, layer / "upper", Role.PACKAGE))


def _add_own(layout: Layout, own: Sequence[str]) -> None:
    """Add the paths that the operator named as the server's own state, empty if they are new."""
    for number, named in enumerate(own):
        inside = os.path.normpath(in_home(named, layout.home))
        place = place_of(layout.places, inside)
        host = place and place.host_of(inside)
        if host is None:
            path = Path(inside)
            if not path.is_absolute() or is_system(path):
                what = "own state must be an absolute path outside of the system's folders"
                raise UsageError(what, where=named, fix="Begin the path with / or ~.")
            check_free(path)
            host = layout.folder / "own" / str(number)
            host.mkdir(parents=True)
        host.parent.mkdir(parents=True, exist_ok=True)
        layout.places.append(Place(inside, host, Role.OWN))
