"""What a verification is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sayso.connect import CommandTarget, UrlTarget
from sayso.verify.judge import Profile

CALLS: Final = 12
"""How often a tool is called at most, before anything is tried again alone."""


@dataclass(frozen=True, slots=True)
class ObjectTarget:
    """A server object of this process, which nothing can contain."""

    name: str
    server: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """One run. `timeout` is in seconds, for the start and for each call.

    `fixtures` are folders that the server may write to as if they were its own: it gets copies.
    `own` are paths that hold the server's own state. `only` names the tools to call, all without
    it. `probe` is a command whose output is the state of a server that is reached by URL; its
    tools that may write are called only where `calls_writes` says so. `prepare` is a line of shell
    that may use the network before, and runs no tool. `needs_package` ends the run at its beginning
    if it cannot be told which package is run.
    """

    target: CommandTarget | UrlTarget | ObjectTarget
    fixtures: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    own: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    prepare: str = ""
    hints: Path | None = None
    probe: tuple[str, ...] = ()
    profile: Profile = Profile.DEFAULT
    seed: int = 0
    calls: int = CALLS
    timeout: float = 30.0
    is_uncontained: bool = False
    calls_writes: bool = False
    has_postgres: bool = False
    needs_package: bool = False
