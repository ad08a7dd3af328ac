"""The context in which a call's effects are graded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sayso.sandbox import Place, Role, place_of
from sayso.trace import Effect


@dataclass(frozen=True, slots=True)
class CallContext:
    """A call, the sandbox's places, and facts from other calls.

    `allowed` are addresses, `host:port`. `argument_paths` are paths that an argument or the
    server's command names. `control` are effects seen without a call, `siblings` all effects of
    this call. `usual` are the files and tables to which calls of every tool add something, or
    `None` if unknown. `shown` are results of other tools. `habitual` are files that most read-only
    tools write, `kept` files in which a call changed user data. `is_reading`: the tool is declared
    read-only.
    """

    places: tuple[Place, ...]
    tool_name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allowed: frozenset[str] = frozenset()
    argument_paths: frozenset[str] = frozenset()
    control: tuple[Effect, ...] = ()
    siblings: tuple[Effect, ...] = ()
    usual: frozenset[str] | None = None
    habitual: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    is_reading: bool = False
    shown: tuple[str, ...] = ()

    def place(self, path: str) -> Place | None:
        return place_of(self.places, path)

    def host(self, path: str) -> Path | None:
        place = self.place(path)
        return place and place.host_of(path)

    def is_named(self, path: str) -> bool:
        """Return whether `argument_paths` has this path or a folder above it (no place's root)."""
        roots = {place.inside for place in self.places}
        wanted = PurePosixPath(path)
        return any(
            wanted == PurePosixPath(named)
            or (wanted.is_relative_to(named) and named not in roots and named != "/")
            for named in self.argument_paths
        )

    def is_kept(self, path: str) -> bool:
        """Return whether other calls show that a file holds user data.

        For a tool that is declared read-only, the result is false: a server may count its calls in
        such a file.
        """
        return not self.is_reading and path in self.kept

    def is_role(self, path: str, *roles: Role) -> bool:
        """Return whether a path lies in a place of one of these roles."""
        place = self.place(path)
        return place is not None and place.role in roles


def path_of(effect: Effect) -> str:
    """Return the path of an effect's file, without table and key."""
    return effect.target.partition("#")[0]


def thing_of(effect: Effect) -> str:
    """Return the file or the table of an effect: its target without the key of a row."""
    path, mark, row = effect.target.partition("#")
    return f"{path}{mark}{row.partition('/')[0]}"
