"""The options of a verification."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sayso.connect import CommandTarget, UrlTarget
from sayso.verify.judge import Profile

CALLS: Final = 12
"""The default number of calls of each tool, without those of isolated runs."""


QUICK_CALLS: Final = 5
"""The default number of calls of each tool in a quick run."""
QUICK: Final = (
    "a quick run: few calls of each tool, no further calls on a fresh server, and no search for"
    " smaller arguments; it can miss a false hint, and cannot be signed"
)
"""What a quick run says about itself. A refutation is confirmed as in any run."""


@dataclass(frozen=True, slots=True)
class ObjectTarget:
    """A server object in this process, which cannot be contained."""

    name: str
    server: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The options of one run. `timeout` is in seconds, for the start and for each call.

    The server gets copies of the folders `fixtures`. `own` are paths of the server's own state.
    `only` names the tools to call; empty means all. `prepare` is a shell line that runs first, with
    network. `runs_install_scripts` lets the install scripts of npm packages run in that step. For a
    server behind a URL, `probe` is a command that prints the server's state, and
    `calls_writes` means that tools that may write are called too. `needs_package` means that the
    run stops early if the package is unknown. `is_quick` leaves out what `QUICK` names.
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
    calls: int | None = None
    timeout: float = 30.0
    is_uncontained: bool = False
    calls_writes: bool = False
    has_postgres: bool = False
    needs_package: bool = False
    is_quick: bool = False
    runs_install_scripts: bool = False

    @property
    def budget(self) -> int:
        """Return the number of calls of each tool: `calls`, or the default."""
        return self.calls or (QUICK_CALLS if self.is_quick else CALLS)
