"""What a server's process says beside the protocol: kept for errors, and passed on to the log."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import anyio

from avow.schema import redact
from avow.schema.plain import plain

_log: Final = logging.getLogger(__name__)

_TAIL_LINES: Final = 5
_LINE_LENGTH: Final = 200
_LOGGED_LENGTH: Final = 1000
_LARGEST: Final = 16 * 1024
"""In bytes; of a longer line the beginning counts."""
_CHUNK: Final = 64 * 1024
_BURST: Final = 100
_PER_SECOND: Final = 5.0
"""How many lines go to the log at once, and on and on; a server that talks must not fill a disk."""
_SETTLE_SECONDS: Final = 0.25
_SHORTEST_SECRET: Final = 6


@dataclass(slots=True)
class Diary:
    """What the process of the server `name` said on stderr, and in place of messages.

    `secrets` are masked wherever they stand, and so is what looks like one.
    """

    name: str = ""
    secrets: tuple[str, ...] = ()
    garbage: list[str] = field(default_factory=list[str])
    timer: Callable[[], float] = time.monotonic
    _lines: deque[str] = field(default_factory=lambda: deque[str](maxlen=_TAIL_LINES))
    _heard: anyio.Event = field(default_factory=anyio.Event)
    _room: float = float(_BURST)
    _at: float = 0.0
    _left_out: int = 0
    _is_in_key: bool = False

    async def hear(self, stderr: asyncio.StreamReader) -> None:
        """Take in all that is said on stderr, until it is closed."""
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
        """Wait for the last words of a process that has just ended; not for one that goes on."""
        with anyio.move_on_after(_SETTLE_SECONDS):
            await self._heard.wait()

    def note(self, line: bytes) -> None:
        """One line of stderr."""
        said = line[:_LARGEST].decode(errors="replace").rstrip()
        if not said:
            return
        self._lines.append(said)
        self._tell(self._masked(said[:_LOGGED_LENGTH]))

    def note_garbage(self, line: bytes) -> None:
        """Keep the first lines of stdout that were no messages."""
        if len(self.garbage) < _TAIL_LINES:
            said = line[: 4 * _LINE_LENGTH].decode(errors="replace").strip()
            self.garbage.append(self._masked(said[:_LINE_LENGTH]))

    def tail(self) -> str:
        """The last lines of stderr, secrets masked."""
        return self._masked("\n".join(line[:_LINE_LENGTH] for line in self._lines))

    def _masked(self, text: str) -> str:
        for secret in self.secrets:
            text = text.replace(secret, "•••")
        return str(redact(text))

    def _tell(self, text: str) -> None:
        """Pass a line on to the log, as far as there is room."""
        now = self.timer()
        self._room = min(_BURST, self._room + (now - self._at) * _PER_SECOND)
        self._at = now
        if self._is_key(text):
            return
        if self._room < 1:
            self._left_out += 1
            return
        self._room -= 1
        if self._left_out:
            _log.info("%s: (%d lines are left out here)", self.name, self._left_out)
            self._left_out = 0
        _log.info("%s: %s", self.name, plain(text))

    def _is_key(self, line: str) -> bool:
        """Whether a line belongs to a private key, which is no secret line by line."""
        was_in_key = self._is_in_key
        if "PRIVATE KEY-----" in line:
            self._is_in_key = "-----BEGIN" in line
            return True
        self._is_in_key = was_in_key and " " not in line
        return self._is_in_key


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """The values among a server's own variables that are secrets, by name or by look."""
    masked: Mapping[str, str] = redact(dict(env))
    found = {one for name, one in env.items() if masked[name] != one}
    return tuple(sorted((one for one in found if len(one) >= _SHORTEST_SECRET), key=len)[::-1])
