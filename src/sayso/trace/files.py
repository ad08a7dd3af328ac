"""What calls do to files."""

from collections.abc import Sequence
from typing import Final

from sayso.trace import escapes
from sayso.trace.arguments import Call
from sayso.trace.descriptor import read_descriptor
from sayso.trace.effect import Effect, Kind
from sayso.trace.memory import Memory, shared_mapping
from sayso.trace.noise import tell_of_file

Effects = Sequence[Effect]

PERHAPS_MADE: Final = "made if it was not there"
MADE_OR_EMPTIED: Final = "made or emptied"
MAPPED: Final = "mapped shared and writable"

_OUTPUT: Final = {"copy_file_range": 2, "sendfile": 0, "splice": 2}
_FOLDER_FIRST: Final = frozenset(
    (
        *("unlinkat", "mkdirat", "mknodat", "fchmodat", "fchmodat2", "fchownat"),
        *("futimesat", "utimensat", "setxattrat", "removexattrat"),
    )
)
_KINDS: Final = {
    "unlink": Kind.DELETE,
    "rmdir": Kind.DELETE,
    "mkdir": Kind.CREATE,
    "mknod": Kind.CREATE,
}
_DETAILS: Final = {"rmdir": "folder", "mkdir": "folder"}


def on_open(call: Call, memory: Memory) -> Effects:
    """Opening changes something where it makes or empties a file.

    A file that is opened for reading and writing, and perhaps made, is told as made; whoever has
    the file looks whether it was there (`PERHAPS_MADE`).
    """
    folder = None
    at = 0
    if call.name in ("openat", "openat2"):
        folder = 0
        at = 1
    flags = call.argument(at + 1)
    if call.name == "creat":
        flags = "O_CREAT|O_WRONLY|O_TRUNC"
    is_read = "O_WRONLY" not in flags and "O_RDWR" not in flags and "O_CREAT" not in flags
    if (is_read and "O_TRUNC" not in flags) or "O_TMPFILE" in flags or "O_PATH" in flags:
        return ()
    path = read_descriptor(call.returned).path or memory.resolve(call, at, folder)
    told = _meaning_of(flags, is_failed=bool(call.error))
    if told is None or (told[1] == PERHAPS_MADE and path in memory.opened):
        return ()
    return tell_of_file(call, told[0], path, told[1])


def _meaning_of(flags: str, *, is_failed: bool) -> tuple[Kind, str] | None:
    if "O_CREAT" in flags and "O_EXCL" in flags:
        return Kind.CREATE, ""
    if "O_TRUNC" in flags:
        if "O_CREAT" in flags:
            return Kind.WRITE, MADE_OR_EMPTIED
        return Kind.WRITE, "emptied"
    if "O_CREAT" in flags:
        return Kind.CREATE, PERHAPS_MADE
    # Opened only for writing, and refused: there is no other use of it. Reading and writing may
    # be asked for by who then only reads, such as SQLite.
    if is_failed and "O_WRONLY" in flags:
        return Kind.WRITE, "opened for writing"
    return None


def on_write(call: Call, memory: Memory) -> Effects:
    """Bytes that went into a file by any way but a mapping."""
    argument = call.argument(_OUTPUT.get(call.name, 0))
    file = read_descriptor(argument)
    if not file.path or file.is_deleted or call.result == 0:
        return ()
    # The server's stdout and stderr as it was given them, by whoever started it.
    if argument.startswith(("1<", "2<")) and file.path not in memory.opened:
        return ()
    if memory.opened.get(file.path):
        return tell_of_file(call, Kind.APPEND, file.path)
    return tell_of_file(call, Kind.WRITE, file.path)


def on_size(call: Call, memory: Memory) -> Effects:
    """A file was cut, or room was made in it."""
    file = read_descriptor(call.argument(0))
    if file.is_deleted:
        return ()
    path = file.path or None
    if call.name == "truncate":
        path = memory.resolve(call, 0)
    return tell_of_file(call, Kind.WRITE, path, call.name)


def on_map(call: Call, memory: Memory) -> Effects:
    """A mapping through which a file can be written without a call; `msync` tells that it was."""
    if call.name == "mmap":
        return tell_of_file(call, Kind.WRITE, shared_mapping(call) or None, MAPPED)
    path = memory.mapped.get(f"{memory.process_of(call.pid)}:{call.argument(0)}")
    return tell_of_file(call, Kind.WRITE, path, "msync")


def on_rename(call: Call, memory: Memory) -> Effects:
    """Two effects, since the two paths may be in places of different owners."""
    if call.name == "rename":
        old = memory.resolve(call, 0)
        new = memory.resolve(call, 1)
    else:
        old = memory.resolve(call, 1, 0)
        new = memory.resolve(call, 3, 2)
    return (
        *tell_of_file(call, Kind.RENAME, old, f"to {new}"),
        *tell_of_file(call, Kind.RENAME, new, f"from {old}"),
    )


def on_link(call: Call, memory: Memory) -> Effects:
    """A second name for a file, or a name that points at another."""
    match call.name:
        case "link" | "symlink":
            path = memory.resolve(call, 1)
        case "symlinkat":
            path = memory.resolve(call, 2, 1)
        case _:
            path = memory.resolve(call, 3, 2)
    first = 1 if call.name == "linkat" else 0
    old = escapes.quoted_path(call.argument(first)) or ""
    return tell_of_file(call, Kind.CREATE, path, f"link to {old}")


def on_name(call: Call, memory: Memory) -> Effects:
    """A name was made or taken away: unlink, rmdir, mkdir, mknod."""
    path = _named_path(call, memory)
    name = call.name.removesuffix("at")
    if name == "unlink" and "AT_REMOVEDIR" in call.argument(2):
        name = "rmdir"
    return tell_of_file(call, _KINDS[name], path, _DETAILS.get(name, ""))


def on_metadata(call: Call, memory: Memory) -> Effects:
    """Mode, owner, times and attributes; the content is as it was."""
    if call.name in _FOLDER_FIRST or call.argument(0).startswith('"'):
        return tell_of_file(call, Kind.METADATA, _named_path(call, memory), call.name)
    file = read_descriptor(call.argument(0))
    if file.is_deleted:
        return ()
    return tell_of_file(call, Kind.METADATA, file.path or None, call.name)


def _named_path(call: Call, memory: Memory) -> str | None:
    if call.name in _FOLDER_FIRST:
        return memory.resolve(call, 1, 0)
    return memory.resolve(call, 0)
