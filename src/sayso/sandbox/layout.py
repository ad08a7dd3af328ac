"""What lies where in a box: the private folders, the copies, and what is seen of this machine."""

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
    """A box's folders as they come together.

    `seen` are paths inside with what is seen there, read-only; `places` are those that the server
    can write to. `lines` are shell commands that mount the overlays.
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
        """The words of bubblewrap that mount all of it, outer folders first."""
        mounts = [(inside, "--ro-bind", source) for inside, source in self.seen]
        for place in self.places:
            source = self.overlays.get(place.inside, place.host)
            # Own state that lies in another place is there already.
            if place.role is not Role.OWN or place.host.is_relative_to(self.folder / "own"):
                mounts.append((place.inside, "--bind", source))
        mounts.sort(key=lambda mount: mount[0].rstrip("/").count("/"))
        return tuple(word for inside, how, source in mounts for word in (how, str(source), inside))


def make_home(folder: Path) -> Path:
    """A private HOME with the folders that XDG names."""
    home = folder / "home"
    for name in XDG.values():
        (home / name).mkdir(parents=True, mode=0o700)
    return home


def in_home(path: str, home: str) -> str:
    """Return a path with `~` at its beginning replaced by `home`."""
    if not path.startswith("~"):
        return path
    return home + path[1:]


def lay_out(spec: SandboxSpec, folder: Path, *, has_overlay: bool) -> Layout:
    """Make the folders of a box and copy what is to be copied. Raises as `find_root` does.

    The copies are made first: a path that a copy takes is not also seen as this machine has it.
    """
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
    """The root for the wished command, with `{world}` replaced by where that lies."""
    cwd = spec.cwd and os.path.abspath(spec.cwd)  # noqa: PTH100 - links stay
    if spec.prepared is not None:
        words = spec.prepared.command
        binds = tuple(map(Bind, spec.prepared.binds))
        words = replace_world(words, world)
        return Root(words, binds, spec.prepared.search, cwd)
    given = Path(cwd) if cwd and not _is_inside(places, Path(cwd)) else None
    root = find_root(
        replace_world(spec.command, world),
        search=spec.env.get("PATH") or os.environ.get("PATH", os.defpath),
        cwd=Path.cwd(),
        given_cwd=given,
    )
    return replace(root, cwd=cwd or root.cwd)


def _is_inside(places: Sequence[Place], folder: Path) -> bool:
    """Whether a folder is there in the box anyway: a copy, or a private one and what it may hold.

    A folder of this machine below /tmp is none of those.
    """
    place = place_of(places, str(folder))
    if place is None:
        return False
    is_private = place.role is not Role.FIXTURE
    return not (is_private and folder.is_dir() and str(folder) != place.inside)


def replace_world(command: Sequence[str], world: str | None) -> tuple[str, ...]:
    """A command's words with `{world}` replaced. Raises `UsageError` where there is none."""
    if world is None:
        if any("{world}" in word for word in command):
            raise UsageError("{world} is named, and there is no world", fix="Name a path instead.")
        return tuple(command)
    return tuple(word.replace("{world}", world) for word in command)


def _copy_all(spec: SandboxSpec, folder: Path) -> Iterator[tuple[Place, tuple[str, ...]]]:
    given = [(str(path), path) for path in map(fixture_path, spec.fixtures)]
    for number, (inside, source) in enumerate([*given, *spec.worlds]):
        check_free(Path(inside))
        copy = folder / "copies" / str(number)
        copy.parent.mkdir(exist_ok=True)
        yield Place(inside, copy, Role.FIXTURE), copy_tree(source, copy)


def _add_binds(layout: Layout, spec: SandboxSpec, *, has_overlay: bool) -> None:
    """What the command needs: read-only, and a package under an overlay where there is one."""
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
    """Paths that the operator named as the server's own state, empty where they are not there."""
    for number, given in enumerate(own):
        inside = os.path.normpath(in_home(given, layout.home))
        place = place_of(layout.places, inside)
        host = place and place.host_of(inside)
        if host is None:
            path = Path(inside)
            if not path.is_absolute() or is_system(path):
                fix = "Give an absolute path, or one that begins with ~."
                raise UsageError("own state cannot lie there", where=given, fix=fix)
            check_free(path)
            host = layout.folder / "own" / str(number)
            host.mkdir(parents=True)
        host.parent.mkdir(parents=True, exist_ok=True)
        layout.places.append(Place(inside, host, Role.OWN))
