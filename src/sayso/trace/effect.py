"""Observed effects: what changed, how long it lasts, and what is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Life(StrEnum):
    """Lifetime and owner of an effect, weakest first. Only the last two refute `readOnlyHint`.

    The grade depends on whether the effect outlives the call and the process, and on whether anyone
    other than the server would miss or see it. A file's name alone never decides.
    """

    TRANSIENT = "transient"
    """Gone by the end of the call."""
    RUNTIME = "runtime"
    """A by-product of running: bytecode, SQLite sidecar files with unchanged rows."""
    CACHE = "cache"
    """Different bytes with the same meaning: a refreshed git index, reformatted JSON."""
    OWN = "own"
    """The server's own log, cache or record of its calls."""
    SESSION = "session"
    """Exists in the server's process and ends with it."""
    USER = "user"
    """The user's data: fixtures, rows, files that an argument names."""
    EXTERNAL = "external"
    """Reaches beyond this machine: a connection, message or name lookup, even a failed one."""

    @property
    def refutes_reading(self) -> bool:
        """Return whether a read-only tool must not have this effect."""
        return self in (Life.USER, Life.EXTERNAL)


class Kind(StrEnum):
    """The kind of change."""

    CREATE = "create"
    WRITE = "write"
    APPEND = "append"
    DELETE = "delete"
    RENAME = "rename"
    METADATA = "metadata"
    INSERT = "insert"
    UPDATE = "update"
    REMOVE = "remove"
    SCHEMA = "schema"
    CONNECT = "connect"
    SEND = "send"
    LOOKUP = "lookup"
    LISTEN = "listen"
    EXECUTE = "execute"
    INSTALL = "install"
    SIGNAL = "signal"
    BLIND = "blind"
    """Something that the observer cannot see into, such as io_uring."""


class Loss(StrEnum):
    """The loss of earlier content through an effect, worst last."""

    NONE = "none"
    OVERWROTE = "overwrote"
    """A record still exists under its key, with different values."""
    UNKNOWN = "unknown_format"
    """The bytes changed, and no reader exists for the file's format."""
    LOST = "lost"
    """A whole record or a file's content is gone."""


class Observer(StrEnum):
    """The observer that saw an effect."""

    SYSCALLS = "syscalls"
    FILES = "files"
    SQLITE = "sqlite"
    POSTGRES = "postgres"
    OUTPUT = "output"
    HOOK = "hook"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content at one moment. `path` is a copy outside the sandbox, if one was stored.

    `digest` is the SHA-256 in hexadecimal, `size` the number of bytes.
    """

    digest: str
    size: int
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """An observed change, or an attempt to change something.

    `target` is a path as the server sees it, `path#table/key` for a row, `host:port` for an
    address, or a command. `call` is the number of the tool call in its run, or 0 between calls.
    Grading sets `life` and `reason`.
    """

    kind: Kind
    target: str
    observer: Observer
    call: int = 0
    detail: str = ""
    is_failed: bool = False
    life: Life | None = None
    reason: str = ""
    loss: Loss = Loss.NONE
    recoverable: str = ""
    """A way to restore the lost content, such as `git reflog`; empty if no way is known."""
    before: Blob | None = None
    after: Blob | None = None

    @property
    def has_same_bytes(self) -> bool:
        """Return whether a file was written again with the bytes that it had."""
        if self.kind is not Kind.WRITE or self.before is None or self.after is None:
            return False
        return bool(self.before.digest) and self.before.digest == self.after.digest

    def to_dict(self) -> dict[str, Any]:
        """Return the effect as in the JSON report: `{"kind", "target", "class", "source", …}`."""
        document = {
            "kind": str(self.kind),
            "target": self.target,
            "class": self.life and str(self.life),
            "source": str(self.observer),
            "call": self.call,
            "detail": self.detail,
            "reason": self.reason,
            "failed": self.is_failed or None,
            "recoverable": self.recoverable,
        }
        if self.loss is not Loss.NONE:
            document["loss"] = str(self.loss)
        return {key: value for key, value in document.items() if value not in (None, "")}


Effects = Sequence[Effect]


def syscall_effect(kind: Kind, target: str, *, detail: str = "", is_failed: bool = False) -> Effect:
    """Return an effect of a system call. The caller adds the number of the tool call."""
    return Effect(kind, target, Observer.SYSCALLS, detail=detail, is_failed=is_failed)
