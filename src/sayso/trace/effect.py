"""What was seen to change in the world, how long it lasts, and what is lost by it."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any


class Life(StrEnum):
    """How long an effect lasts and whose it is, weakest first. Only the last two refute read-only.

    A name settles none of them: what counts is whether it outlives the call, the process, and
    whether anybody but the server would miss it or see it.
    """

    TRANSIENT = "transient"
    """Gone again by the end of the call."""
    RUNTIME = "runtime"
    """What running leaves: bytecode, sidecars of SQLite whose rows are the same."""
    CACHE = "cache"
    """Bytes differ, meaning does not: an index of git written anew, JSON laid out otherwise."""
    OWN = "own"
    """The server's own: its log, its cache, its record of what it was asked."""
    SESSION = "session"
    """Lives in the process, and goes with it."""
    USER = "user"
    """What the person who runs the server keeps: fixtures, rows, files named by an argument."""
    EXTERNAL = "external"
    """Beyond this machine: a connection, a message, a look-up of a name, also where it failed."""

    @property
    def refutes_reading(self) -> bool:
        """Whether a tool that is read-only must not have such an effect."""
        return self in (Life.USER, Life.EXTERNAL)


class Kind(StrEnum):
    """What happened to the target."""

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
    """Something that the observer cannot look into, such as io_uring."""


class Loss(StrEnum):
    """What of the world before is gone, worst last."""

    NONE = "none"
    OVERWROTE = "overwrote"
    """A record that goes on under its key with other values."""
    UNKNOWN = "unknown_format"
    """Bytes of a format that nobody here reads: it cannot be told."""
    LOST = "lost"
    """A whole record, or a file's content."""


class Observer(StrEnum):
    """Who saw an effect."""

    SYSCALLS = "syscalls"
    FILES = "files"
    SQLITE = "sqlite"
    POSTGRES = "postgres"
    OUTPUT = "output"
    HOOK = "hook"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Blob:
    """A file's content at one moment. `path` is a copy outside the containment, if one was kept.

    `digest` is the SHA-256 of its bytes in hexadecimal, `size` their number.
    """

    digest: str
    size: int
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """One observed change, or an attempt at one.

    `target` is a path as the server sees it, `path#table/key` for a row, `host:port` for an
    address, or a command. `call` is the number of the call in its run, 0 for what came without
    one. `life` is unset until it is graded, and `reason` says why it was graded so.
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
    """How what was lost can be had back, such as `git reflog`; empty where it cannot."""
    before: Blob | None = None
    after: Blob | None = None

    def to_dict(self) -> dict[str, Any]:
        """As the report has it: `{"kind", "target", "class", "source", "call", …}`."""
        named = {
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
            named["loss"] = str(self.loss)
        return {key: value for key, value in named.items() if value is not None and value != ""}
