"""The request for a box, and the box."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sayso.intent import CONTAINING
from sayso.sandbox.limits import Limits
from sayso.sandbox.mount import Place

__all__ = ["CONTAINING", "Box", "Layer", "Prepared", "SandboxSpec"]


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of containment or an observer, named as in `sayso.intent.LAYERS`."""

    name: str
    is_active: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "active": self.is_active, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The result of a prepare step: `folder` is seen at `inside`, and `command` starts it.

    The folder belongs to the caller and must outlive the boxes. `binds` are other host paths that
    the command needs. `kind` (`npm`, `pypi`) and `name` are those of a fetched package.
    `unscripted` are packages whose install scripts did not run.
    """

    folder: Path
    inside: str
    command: tuple[str, ...]
    search: str
    binds: tuple[Path, ...] = ()
    kind: str = ""
    name: str = ""
    unscripted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The request for a box.

    `fixtures` and `worlds` are copied for each box. A fixture is seen at its own path, a world at
    the path before it in its pair. `own` are paths inside with the server's own state. `allowed`
    are loopback addresses, `host:port`. `{world}` in the command is the path of the first world.
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
    """A box that is ready: start `command` on the host with `env` and `cwd`, one at a time.

    `trace` is strace's file, outside the box. `home` and `world` are paths inside. `notes` list
    what was not copied.
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
    """The command of the server itself, as started inside."""
    notes: tuple[str, ...] = ()
    overruns: list[str] = field(default_factory=list[str])
    """Why the server was ended: it exceeded a limit."""
