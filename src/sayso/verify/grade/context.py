"""The context in which a call's effects are graded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sayso.sandbox import Place, Role, place_of
from sayso.trace import Effect


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call, its places, and what other calls show.

    `allowed` are addresses, `host:port`. `argument_paths` are paths of the server that an argument
    or the command names. `control` are effects without a call, `siblings` all effects of this call.
    `usual` are targets, without row keys, at which calls of every tool leave something; `None` if
    unknown. `shown` are results of other tools. `habitual` are files that most reading tools write,
    `kept` files in which a call left what other tools show. `is_reading` if the tool claims to
    read.
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
        """Return whether a path was named, or lies in a named folder other than a whole place."""
        roots = {place.inside for place in self.places}
        wanted = PurePosixPath(path)
        return any(
            wanted == PurePosixPath(named)
            or (wanted.is_relative_to(named) and named not in roots and named != "/")
            for named in self.argument_paths
        )

    def is_kept(self, path: str) -> bool:
        """Return whether a file holds user data.

        Effects of a tool that claims to read must show that themselves: a server may count its
        calls there.
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
    """Return the target without a row's key: the file, or the table."""
    path, mark, row = effect.target.partition("#")
    return f"{path}{mark}{row.partition('/')[0]}"
