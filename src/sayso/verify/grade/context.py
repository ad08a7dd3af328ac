"""What is known of a call when its effects are graded."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from sayso.sandbox import Place, Role, place_of
from sayso.trace import Effect


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call, its places and its neighbours.

    `allowed` are addresses, `host:port`, that the server may reach. `argument_paths` are paths
    that an argument or the command names, as the server sees them. `control` is what is seen
    without a call.
    `beside` are all effects of the same call. `usual` are the targets that calls of every tool
    leave something at, without the key of a row; `None` where that is not known. `shown` are
    results of other tools. `habitual` are files that most of the reading tools write, and `kept`
    those of the server's in which a call left what other tools show; `is_reading` says of the tool
    that it claims to read.
    """

    places: tuple[Place, ...]
    tool_name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    allowed: frozenset[str] = frozenset()
    argument_paths: frozenset[str] = frozenset()
    control: tuple[Effect, ...] = ()
    beside: tuple[Effect, ...] = ()
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
        """Whether a path was named, or lies in a folder that was.

        Who names a whole place, such as HOME, has not named each file in it.
        """
        roots = {place.inside for place in self.places}
        wanted = PurePosixPath(path)
        return any(
            wanted == PurePosixPath(named)
            or (wanted.is_relative_to(named) and named not in roots and named != "/")
            for named in self.argument_paths
        )

    def is_kept(self, path: str) -> bool:
        """Whether a file holds what a person keeps, so that what is gone from it is missed.

        Of a tool that claims to read, each effect must show that by itself: a server may count in
        the same file how often it was asked.
        """
        return not self.is_reading and path in self.kept

    def is_role(self, path: str, *roles: Role) -> bool:
        """Whether a path lies in a place of one of these roles."""
        place = self.place(path)
        return place is not None and place.role in roles


def path_of(effect: Effect) -> str:
    """The path of the file that an effect is about, without table and key."""
    return effect.target.partition("#")[0]


def thing_of(effect: Effect) -> str:
    """The target without the key of a row: the file, or the table."""
    path, mark, row = effect.target.partition("#")
    return f"{path}{mark}{row.partition('/')[0]}"
