"""Server-sent events (WHATWG HTML, section 9.2)."""

from dataclasses import dataclass, field
from typing import Final

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Event:
    """An event; `id` is the last id of the stream."""

    data: bytes
    kind: str = "message"
    id: str = ""


@dataclass(slots=True)
class EventReader:
    r"""A parser of a stream's pieces; `retry` is in milliseconds.

    >>> reader = EventReader(most=100)
    >>> [one.data for one in reader.feed(b"data: 1\n\nda")]
    [b'1']
    >>> [one.data for one in reader.feed(b"ta: 2\n\n")]
    [b'2']
    """

    most: int
    last_id: str = ""
    retry: int | None = None
    _rest: list[bytes] = field(default_factory=list[bytes])
    _has_begun: bool = False
    _after_return: bool = False
    _data: list[bytes] = field(default_factory=list[bytes])
    _kind: str = ""
    _size: int = 0

    def feed(self, piece: bytes) -> list[Event]:
        """Return the complete events. Raises `ValueError` for one of more than `most` bytes."""
        if not self._has_begun:
            self._has_begun = True
            piece = piece.removeprefix(_BOM)
        if self._after_return:
            piece = piece.removeprefix(b"\n")
        self._after_return = piece.endswith(b"\r")
        self._size += len(piece)
        if self._size > self.most:
            raise ValueError("an event is too large")
        lines = piece.splitlines(keepends=True)
        rest = [lines.pop()] if lines and not lines[-1].endswith((b"\n", b"\r")) else []
        if not lines:
            self._rest += rest
            return []
        lines[0] = b"".join([*self._rest, lines[0]])
        self._rest = rest
        return [event for line in lines if (event := self._line(line.rstrip(b"\r\n"))) is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._end()
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._kind = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self.last_id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self.retry = int(value[:9])
        return None

    def _end(self) -> Event | None:
        data = self._data
        kind = self._kind
        self._data = []
        self._kind = ""
        self._size = 0
        return Event(b"\n".join(data), kind or "message", self.last_id) if data else None
