"""The state of a service, for people and programs."""

import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from typing import Any, Final

from sayso.clients import read
from sayso.service.place import Place
from sayso.service.systemd import Systemd
from sayso.service.unit import is_edited, is_ours

_PROPERTIES: Final = (
    "ActiveState",
    "SubState",
    "UnitFileState",
    "MainPID",
    "NRestarts",
    "ExecMainStatus",
    "DropInPaths",
)


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a service; `lingers` is `None` if it is unknown."""

    name: str
    file: str
    is_installed: bool
    is_edited: bool
    is_enabled: bool
    is_active: bool
    state: str
    pid: int | None
    restarts: int
    exit_code: int | None
    additions: tuple[str, ...]
    lingers: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Return the state as data, for `--json`."""
        return asdict(self)


def read_status(place: Place, systemd: Systemd) -> Status:
    """Return the state of a service that need not be installed."""
    found = systemd.properties(place.unit, *_PROPERTIES)
    data = read(place.path) if place.path.exists() else b""
    is_active = found["ActiveState"] == "active"
    has_ended = not is_active and is_ours(data)
    return Status(
        name=place.name,
        file=str(place.path),
        is_installed=is_ours(data),
        is_edited=is_edited(data),
        is_enabled=found["UnitFileState"] == "enabled",
        is_active=is_active,
        state=f"{found['ActiveState'] or 'unknown'} ({found['SubState'] or 'unknown'})",
        pid=_number(found["MainPID"]) or None,
        restarts=_number(found["NRestarts"]),
        exit_code=_number(found["ExecMainStatus"]) if has_ended else None,
        additions=tuple(found["DropInPaths"].split()),
        lingers=_lingers(),
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _lingers() -> bool | None:
    """Return whether this user's services run without a login, as `loginctl` says."""
    program = shutil.which("loginctl")
    if program is None:
        return None
    words = [program, "show-user", str(os.getuid()), "--property=Linger", "--value"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program
            words, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {b"yes": True, b"no": False}.get(done.stdout.strip())
