"""Calls of `systemctl --user`."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Final

from sayso.errors import SaysoError, UsageError

_INSTEAD: Final = (
    "Log in as the user itself (not with su or sudo), or start sayso gateway with the supervisor "
    "that this machine has; it ends gracefully on SIGTERM."
)


@dataclass(frozen=True, slots=True)
class Systemd:
    """The systemd that runs a user's services, called through `program`."""

    program: str

    def run(self, *words: str) -> str:
        """Run `systemctl --user`, and return what it prints. Raises `SaysoError` if it fails.

        systemd limits how long a start and a stop take.
        """
        try:
            done = subprocess.run(  # noqa: S603 - systemctl, with our words
                [self.program, "--user", *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env={**os.environ, "LC_ALL": "C", "SYSTEMD_PAGER": ""},
                check=False,
            )
        except OSError as error:
            raise SaysoError(f"cannot run {self.program}: {error.strerror}") from error
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())
            what = f"failed with exit code {done.returncode}"
            if said:
                what += f": {said}"
            raise SaysoError(what, where=shown(words))
        return done.stdout.decode(errors="replace")

    def properties(self, unit: str, *names: str) -> dict[str, str]:
        """Return properties of a unit, which need not exist."""
        output = self.run("show", unit, f"--property={','.join(names)}")
        pairs = (line.partition("=") for line in output.splitlines())
        return dict.fromkeys(names, "") | {name: value for name, _, value in pairs}


def shown(words: tuple[str, ...]) -> str:
    """Return the command line of a call, for people."""
    return " ".join(("systemctl --user", *words))


def find_systemd() -> Systemd:
    """Return the systemd of this user. Raises `UsageError` if there is none."""
    program = shutil.which("systemctl")
    if not sys.platform.startswith("linux") or program is None:
        raise UsageError("this machine has no systemd", fix=_INSTEAD)
    systemd = Systemd(program)
    try:
        systemd.run("show", "--property=Version")
    except SaysoError as error:
        raise UsageError(f"no systemd serves this user: {error}", fix=_INSTEAD) from error
    return systemd
