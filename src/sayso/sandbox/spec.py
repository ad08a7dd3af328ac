"""What is asked of a box, and what one is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.intent import CONTAINING
from sayso.sandbox.limits import Limits
from sayso.sandbox.mount import Place
from sayso.sandbox.package import Package

__all__ = ["CONTAINING", "Box", "Layer", "Prepared", "SandboxSpec"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of containment or one observer, and whether it is active.

    `name` is one of `sayso.intent.LAYERS`. `detail` says how it was had, or why it was not.
    """

    name: str
    is_active: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "active": self.is_active, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a prepare step made: `folder` is seen at `inside`, and `command` starts what is there.

    The folder is the caller's, who keeps it for as long as boxes are opened with it.
    """

    folder: Path
    inside: str
    command: tuple[str, ...]
    package: Package
    search: str
    binds: tuple[Path, ...] = ()
    """What else of this machine the command needs, read-only."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What is asked of a box.

    `fixtures` and `worlds` are copied afresh; a fixture is seen at its own path, a world at the
    path that goes before it. `own` are paths inside that are the server's own state. `allowed` are
    addresses on loopback, `host:port`, that it may reach. `{world}` in the command's words is the
    path of the first world.
    """

    command: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    fixtures: tuple[Path, ...] = ()
    worlds: tuple[tuple[str, Path], ...] = ()
    own: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    is_uncontained: bool = False
    prepared: Prepared | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A box that stands ready: start `command` on the host with `env` and `cwd`, one at a time.

    `trace` is where strace writes, outside of the box; `None` without it. `home` and `world` are
    paths as the server sees them. `notes` say what could not be had, such as a socket that was not
    copied.
    """

    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    places: tuple[Place, ...]
    layers: tuple[Layer, ...]
    trace: Path | None
    home: str
    world: str | None = None
    server: tuple[str, ...] = ()
    """The server's own words, as they are started inside."""
    notes: tuple[str, ...] = ()
    overruns: list[str] = field(default_factory=list[str])
    """Why the server was ended from outside: it used more than it may."""
