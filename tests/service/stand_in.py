"""A stand-in for `systemctl`: no test may touch the services of whoever runs the tests.

It records its calls and keeps what systemd would know: enabled, active, the text it has loaded. It
is not systemd: `test_unit.py` has what systemd itself says of our files.
"""

from dataclasses import dataclass
from pathlib import Path

_SCRIPT = r"""#!/bin/sh
cd "$(dirname "$0")/state" || exit 9
[ "$1" = --user ] || { echo "stand-in: without --user" >&2; exit 9; }
shift
echo "$*" >> calls
if [ -f fails ]; then
    case "$*" in "$(cat fails)"*) [ -f always ] || rm fails; echo "told to fail" >&2; exit 1;; esac
fi
case "$1" in
show)
    [ -f enabled ] && echo UnitFileState=enabled || echo UnitFileState=disabled
    [ -f active ] && echo ActiveState=active || echo ActiveState=inactive
    [ -f active ] && echo SubState=running || echo SubState=dead
    [ -f active ] && echo MainPID=4242 || echo MainPID=0
    echo NRestarts=3; echo ExecMainStatus=2; echo DropInPaths=
    ;;
daemon-reload) cat "$(cat unit)" > loaded 2>/dev/null || rm -f loaded ;;
enable) [ -f loaded ] && touch enabled ;;
start) [ -f loaded ] && touch active ;;
disable) rm -f enabled active ;;
reset-failed) ;;
*) echo "stand-in: unknown" >&2; exit 9 ;;
esac
"""


@dataclass(frozen=True)
class StandIn:
    """The stand-in for one unit, in `folder`, which goes first on the PATH."""

    folder: Path
    unit: Path

    @classmethod
    def made(cls, folder: Path, unit: Path) -> "StandIn":
        (folder / "state").mkdir(parents=True)
        (folder / "state" / "unit").write_text(str(unit))
        (folder / "systemctl").write_text(_SCRIPT)
        (folder / "systemctl").chmod(0o755)
        return cls(folder, unit)

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def program(self) -> str:
        return str(self.folder / "systemctl")

    def calls(self) -> list[str]:
        """What was asked of it so far, apart from questions; the list is cleared."""
        path = self.state / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in lines if not line.startswith("show")]

    def fail(self, start: str, *, always: bool = False) -> None:
        """Fail the next call that begins with these words, or each of them."""
        (self.state / "fails").write_text(start)
        if always:
            (self.state / "always").touch()

    def run_other(self, text: str, mode: int = 0o644) -> None:
        """Put another unit there, which is enabled and runs."""
        self.unit.parent.mkdir(parents=True, exist_ok=True)
        self.unit.write_text(text)
        self.unit.chmod(mode)
        (self.state / "loaded").write_text(text)
        (self.state / "enabled").touch()
        (self.state / "active").touch()

    def seen(self) -> dict[str, object]:
        """All that a failed command must leave as it was: files, and what systemd knows."""
        folder = self.unit.parent
        files = sorted(folder.iterdir()) if folder.exists() else []
        seen: dict[str, object] = {
            path.name: (path.read_bytes(), path.stat().st_mode) for path in files
        }
        for name in ("enabled", "active"):
            seen[f"is {name}"] = (self.state / name).exists()
        loaded = self.state / "loaded"
        seen["loaded"] = loaded.read_text() if loaded.exists() else None
        return seen
