"""The text of a unit file, in systemd's own quoting: systemd.service(5), systemd.syntax(7)."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.errors import UsageError

_FIRST: Final = "# Written by sayso service install, sha256:"
_FIRST_LINE: Final = re.compile(rf"{re.escape(_FIRST)}([0-9a-f]{{64}})\n".encode())
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_STOP_MARGIN_SECONDS: Final = 30
"""The time beyond `--drain` in which the gateway records outcomes and ends its servers."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What a unit starts: `words` is a command whose first word is an absolute path.

    `environment_file` may be missing when the service starts. `drain` is in seconds. `replaced`
    describes what was there before, for `sayso service uninstall`.
    """

    name: str
    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    environment_file: Path
    drain: float
    replaced: str = ""

    def text(self) -> str:
        """Return the unit file. Raises `UsageError` for what systemd cannot take."""
        body = _TEMPLATE.format(
            name=self.name,
            replaced=self.replaced,
            command=quote_command(self.words),
            folder=bare_path(self.folder),
            environment="".join(
                f"Environment={quote(f'{name}={value}')}\n"
                for name, value in sorted(self.environment.items())
            ),
            environment_file=bare_path(self.environment_file),
            stop=math.ceil(self.drain) + _STOP_MARGIN_SECONDS,
        )
        return f"{_FIRST}{_digest(body.encode())}\n{body}"


_TEMPLATE: Final = """\
# Before: {replaced}
# To change it, run sayso service install again, or systemctl --user edit {name}.

[Unit]
Description=sayso gateway ({name})
# A server or database that is missing at first, as at boot: try again without end.
StartLimitIntervalSec=0

[Service]
# The gateway reports when it serves, so a start that fails is seen.
Type=notify
NotifyAccess=main
ExecStart={command}
WorkingDirectory={folder}
{environment}# NAME=value lines, such as tokens of servers; keep it private (chmod 600).
EnvironmentFile=-{environment_file}

# Standard output has only a login link, which must not be in the journal.
StandardInput=null
StandardOutput=null
StandardError=journal

Restart=on-failure
RestartSec=10
# 2: an option or a file with a mistake. 3: credentials refused. Trying again changes nothing.
RestartPreventExitStatus=2 3
TimeoutStartSec=300

# Only the gateway gets SIGTERM. It lets running calls finish, then ends its servers.
KillMode=mixed
TimeoutStopSec={stop}

# A server that the kernel ends for its memory does not end the gateway.
OOMPolicy=continue
# A core dump would hold keys.
LimitCORE=0

[Install]
WantedBy=default.target
"""


def quote(word: str) -> str:
    r"""Return a word for a setting that is split into words and replaces %-specifiers.

    >>> print(quote('100% "of" C:\\'))
    "100%% \"of\" C:\\"
    """
    _check(word)
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def quote_command(words: tuple[str, ...]) -> str:
    """Return a command for `ExecStart`. In arguments, systemd would replace variables too.

    >>> quote_command(("/bin/echo", "$HOME"))
    '"/bin/echo" "$$HOME"'
    """
    program, *arguments = words
    if "$" in program:
        fix = "Install sayso in another folder."
        raise UsageError(
            "systemd cannot start a program with $ in its path", where=program, fix=fix
        )
    return " ".join([quote(program), *(quote(word).replace("$", "$$") for word in arguments)])


def bare_path(path: Path) -> str:
    """Return a path for a setting that takes one path without quotes.

    >>> bare_path(Path("/a b/50%"))
    '/a b/50%%'
    """
    text = str(path)
    _check(text)
    if text != text.rstrip(" \\"):
        what = "systemd cannot take a path that ends in a space or a backslash"
        raise UsageError(what, where=text, fix="Rename the folder.")
    return text.replace("%", "%%")


def is_ours(data: bytes) -> bool:
    """Return whether sayso wrote this file, even if it was edited later."""
    return _FIRST_LINE.match(data) is not None


def is_edited(data: bytes) -> bool:
    """Return whether a file of sayso was edited after it was written."""
    match = _FIRST_LINE.match(data)
    return match is not None and match[1].decode() != _digest(data[match.end() :])


def replaced_by(data: bytes) -> str:
    """Return `Unit.replaced` of a file that sayso wrote; empty if that line is gone."""
    match = re.search(rb"^# Before: (.*)$", data, re.MULTILINE)
    return match[1].decode(errors="replace") if match else ""


def _check(text: str) -> None:
    if _CONTROL.search(text):
        what = f"systemd cannot take this word: it has a line break or control character: {text!a}"
        raise UsageError(what, fix="Remove the character, or rename the file.")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
