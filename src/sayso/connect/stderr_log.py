"""The stderr of a server's process, logged and kept for error messages.

Error messages show only the reason, not the stack trace.
"""

import asyncio
import logging
import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import anyio

from sayso.schema import plain, redact, redact_start

_log: Final = logging.getLogger(__name__)

_TAIL_LINES: Final = 5
_KEPT_LINES: Final = 100
"""Lines of stderr: a stack trace may be long, and the reason may be before or after it."""
_LINE_LENGTH: Final = 200
_LOGGED_LENGTH: Final = 1000
_LARGEST: Final = 16 * 1024
"""The maximum bytes of a line; longer lines are cut."""
_CHUNK: Final = 64 * 1024
_BURST: Final = 100
_PER_SECOND: Final = 5.0
"""The rate of logged lines after the first `_BURST`, so that a server cannot fill the disk."""
_SETTLE_SECONDS: Final = 0.25
_SHORTEST_SECRET: Final = 6

_GROUP: Final = re.compile(r"^ *[|+](?:[-+]+(?: \d+ -+)?)? ?")
"""The prefix of each line in the trace of an `ExceptionGroup`."""

_ERROR: Final = re.compile(r"^(?:Uncaught )?(?:[\w.$]+\.)?\w*(?:Error|Exception|Exit|Fault)\b")
_TRACE: Final = re.compile(
    r"^(?:Traceback \(|Exception Group Traceback|File \"|During handling of|The above exception"
    r"|Node\.js v\d|node:\w|\s*at \S|[-+^~ ]+$)"
)
_HELP: Final = "For further information visit"
_MOST_DETAIL: Final = 2
"""Further lines of an error's message."""

NO_CLIENT_TO_ASK: Final = "no call is under way whose client could be asked"
"""The error for a server's question outside of a call.

Many servers ask for roots as soon as they are connected, and print the refusal as an error.
"""


@dataclass(slots=True)
class StderrLog:
    """The stderr of the server `name`, and the lines of its stdout that are not MCP messages.

    `secrets`, and texts that look like a secret, are masked everywhere.
    """

    name: str = ""
    secrets: tuple[str, ...] = ()
    garbage: list[str] = field(default_factory=list[str])
    timer: Callable[[], float] = time.monotonic
    _lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_KEPT_LINES))
    _heard: anyio.Event = field(default_factory=anyio.Event)
    _allowance: float = float(_BURST)
    _at: float = 0.0
    _left_out: int = 0
    _is_in_key: bool = False
    _held: list[str] | None = None

    async def hear(self, stderr: asyncio.StreamReader) -> None:
        rest = b""
        try:
            while chunk := await stderr.read(_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self.note(line)
                rest = rest[:_LARGEST]
            self.note(rest)
        finally:
            self._heard.set()

    async def settle(self) -> None:
        """Wait a moment for the last output of a process that has just ended."""
        with anyio.move_on_after(_SETTLE_SECONDS):
            await self._heard.wait()

    def note(self, line: bytes) -> None:
        text = line[:_LARGEST].decode(errors="replace").rstrip()
        if not text:
            return
        self._lines.append(text)
        if self._held is not None:
            self._held = [*self._held[1 - _KEPT_LINES :], text]
            return
        self._log_line(self._masked(text, _LOGGED_LENGTH))

    def hold(self) -> None:
        """Keep further output out of the log until `release`.

        An old server may print a stack trace for the probe, before sayso restarts it.
        """
        self._held = []

    def release(self) -> None:
        held = self._held or []
        self._held = None
        for line in held:
            self._log_line(self._masked(line, _LOGGED_LENGTH))

    def mentions(self, text: str) -> bool:
        return any(text in line for line in self._lines)

    def note_garbage(self, line: bytes) -> None:
        """Keep the first lines of stdout that are not MCP messages, and log the first one."""
        text = line[:_LARGEST].decode(errors="replace").strip()
        if not text or len(self.garbage) >= _TAIL_LINES:
            return
        masked = self._masked(text, _LINE_LENGTH)
        if not self.garbage:
            what = "%s: skipped a line on stdout that is not MCP: %s (further ones are not logged)"
            _log.warning(what, self.name, plain(masked))
        self.garbage.append(masked)

    def tail(self) -> str:
        return self._shown([*self._lines][-_TAIL_LINES:])

    def reason(self) -> str:
        """Return the lines of stderr with the reason why the process ended, without a trace."""
        return self._shown(reason_of([*self._lines], _TAIL_LINES))

    def _shown(self, lines: list[str]) -> str:
        # A key may span lines, so mask all lines together, and cut them only after that.
        text = self._masked("\n".join(lines), _TAIL_LINES * _LARGEST)
        return "\n".join(line[:_LINE_LENGTH] for line in text.splitlines())

    def _masked(self, text: str, length: int) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "•••")
        return redact_start(text, length)

    def _log_line(self, text: str) -> None:
        now = self.timer()
        self._allowance = min(_BURST, self._allowance + (now - self._at) * _PER_SECOND)
        self._at = now
        if self._is_key(text):
            return
        if self._allowance < 1:
            self._left_out += 1
            return
        self._allowance -= 1
        if self._left_out:
            _log.info("%s: (%d lines are left out here)", self.name, self._left_out)
            self._left_out = 0
        level = logging.DEBUG if NO_CLIENT_TO_ASK in text else logging.INFO
        _log.log(level, "%s: %s", self.name, plain(text))

    def _is_key(self, line: str) -> bool:
        """Return whether a line is part of a private key; one line alone looks harmless."""
        if "PRIVATE KEY-----" in line:
            self._is_in_key = "-----BEGIN" in line
            return True
        self._is_in_key = self._is_in_key and " " not in line
        return self._is_in_key


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the secret values in a server's variables, recognized by name or form."""
    masked: Mapping[str, str] = redact(dict(env), None)
    found = {value for name, value in env.items() if masked[name] != value}
    return tuple(
        sorted((value for value in found if len(value) >= _SHORTEST_SECRET), key=len)[::-1]
    )


def reason_of(lines: Sequence[str], limit: int) -> list[str]:
    """Return at most `limit` lines: the error of a stack trace, or without a trace the last lines.

    >>> reason_of(
    ...     [
    ...         "Traceback (most recent call last):",
    ...         '  File "a.py", line 1, in main',
    ...         "    run()",
    ...         "ValueError: API_KEY is missing",
    ...     ],
    ...     5,
    ... )
    ['ValueError: API_KEY is missing']
    >>> reason_of(["starting", "API_KEY is missing"], 5)
    ['starting', 'API_KEY is missing']
    """
    bare = [_GROUP.sub("", line) for line in lines]
    groups = ("ExceptionGroup", "BaseException")
    errors = [
        index
        for index, line in enumerate(bare)
        if _ERROR.match(line) and not line.startswith(groups)
    ]
    if not any(_TRACE.match(line) for line in bare):
        return [*lines[-limit:]]
    if not errors:
        kept = [line for line in bare if line.strip() and not line.startswith(" ")]
        return [line for line in kept if not _TRACE.match(line)][-limit:]
    index = errors[-1]
    detail = (line.strip() for line in bare[index + 1 : index + 1 + _MOST_DETAIL])
    details = [
        line for line in detail if line and not _TRACE.match(line) and not line.startswith(_HELP)
    ]
    return [bare[index].strip(), *details][:limit]
