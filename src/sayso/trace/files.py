"""Effects of system calls on files."""

from typing import Final

from sayso.trace import escapes
from sayso.trace.arguments import Call
from sayso.trace.descriptor import read_descriptor
from sayso.trace.effect import Effects, Kind, syscall_effect
from sayso.trace.memory import Memory, shared_mapping
from sayso.trace.noise import is_noise

PERHAPS_MADE: Final = "created if missing"
MADE_OR_EMPTIED: Final = "created or emptied"
MAPPED: Final = "mapped shared and writable"

_OUTPUT: Final = {"copy_file_range": 2, "sendfile": 0, "splice": 2}
_FOLDER_FIRST: Final = frozenset(
    (
        *("unlinkat", "mkdirat", "mknodat", "fchmodat", "fchmodat2", "fchownat"),
        *("futimesat", "utimensat", "setxattrat", "removexattrat"),
    )
)
_REFUSALS: Final = frozenset(
    {"EROFS", "EACCES", "EPERM", "ENOSPC", "EDQUOT", "EFBIG", "EIO", "ETXTBSY"}
)
"""Errors that stopped a change. With any other error there was nothing to change."""
_KINDS: Final = {
    "unlink": Kind.DELETE,
    "rmdir": Kind.DELETE,
    "mkdir": Kind.CREATE,
    "mknod": Kind.CREATE,
}
_DETAILS: Final = {"rmdir": "folder", "mkdir": "folder"}


def on_open(call: Call, memory: Memory) -> Effects:
    """Return the effect of opening a file: the file may be created or emptied.

    With `O_CREAT` alone, without `O_EXCL` and `O_TRUNC`, the file may have existed before. Such an
    open counts as a creation with the detail `PERHAPS_MADE`. A later look at the file shows whether
    the file is new.
    """
    folder = None
    index = 0
    if call.name in ("openat", "openat2"):
        folder = 0
        index = 1
    flags = call.argument(index + 1)
    if call.name == "creat":
        flags = "O_CREAT|O_WRONLY|O_TRUNC"
    is_read = "O_WRONLY" not in flags and "O_RDWR" not in flags and "O_CREAT" not in flags
    if (is_read and "O_TRUNC" not in flags) or "O_TMPFILE" in flags or "O_PATH" in flags:
        return ()
    path = read_descriptor(call.returned).path or memory.resolve(call, index, folder)
    change = _change_by(flags, is_failed=bool(call.error))
    if change is None or (change[1] == PERHAPS_MADE and path in memory.opened):
        return ()
    return _file_effect(call, change[0], path, change[1])


def _change_by(flags: str, *, is_failed: bool) -> tuple[Kind, str] | None:
    if "O_CREAT" in flags and "O_EXCL" in flags:
        return Kind.CREATE, ""
    if "O_TRUNC" in flags:
        return Kind.WRITE, MADE_OR_EMPTIED if "O_CREAT" in flags else "emptied"
    if "O_CREAT" in flags:
        return Kind.CREATE, PERHAPS_MADE
    # A failed open counts as an attempt to write only if it was for writing alone. Programs that
    # only read, such as SQLite, also open files for reading and writing.
    if is_failed and "O_WRONLY" in flags:
        return Kind.WRITE, "opened for writing"
    return None


def on_write(call: Call, memory: Memory) -> Effects:
    """Return the effect of a system call that writes to a file."""
    argument = call.argument(_OUTPUT.get(call.name, 0))
    file = read_descriptor(argument)
    if not file.path or file.is_deleted or call.result == 0:
        return ()
    # Writes to the stdout and stderr that the server was started with do not count.
    if argument.startswith(("1<", "2<")) and file.path not in memory.opened:
        return ()
    if memory.opened.get(file.path):
        return _file_effect(call, Kind.APPEND, file.path)
    return _file_effect(call, Kind.WRITE, file.path)


def on_size(call: Call, memory: Memory) -> Effects:
    """Return the effect of truncating a file or reserving space for it."""
    file = read_descriptor(call.argument(0))
    if file.is_deleted:
        return ()
    path = file.path or None
    if call.name == "truncate":
        path = memory.resolve(call, 0)
    return _file_effect(call, Kind.WRITE, path, call.name)


def on_map(call: Call, memory: Memory) -> Effects:
    """Return the effect of a shared writable mapping, or of its `msync`.

    Writes to the mapped memory need no system call; an `msync` shows that they happened.
    """
    if call.name == "mmap":
        return _file_effect(call, Kind.WRITE, shared_mapping(call) or None, MAPPED)
    path = memory.mapped.get(f"{memory.process_of(call.pid)}:{call.argument(0)}")
    return _file_effect(call, Kind.WRITE, path, "msync")


def on_rename(call: Call, memory: Memory) -> Effects:
    """Return one effect for the old path and one for the new path: their owners may differ."""
    if call.name == "rename":
        old = memory.resolve(call, 0)
        new = memory.resolve(call, 1)
    else:
        old = memory.resolve(call, 1, 0)
        new = memory.resolve(call, 3, 2)
    return (
        *_file_effect(call, Kind.RENAME, old, f"to {new}"),
        *_file_effect(call, Kind.RENAME, new, f"from {old}"),
    )


def on_link(call: Call, memory: Memory) -> Effects:
    """Return the effect of creating a hard or symbolic link."""
    match call.name:
        case "link" | "symlink":
            path = memory.resolve(call, 1)
        case "symlinkat":
            path = memory.resolve(call, 2, 1)
        case _:
            path = memory.resolve(call, 3, 2)
    first = 1 if call.name == "linkat" else 0
    old = escapes.quoted_path(call.argument(first)) or ""
    return _file_effect(call, Kind.CREATE, path, f"link to {old}")


def on_name(call: Call, memory: Memory) -> Effects:
    """Return the effect of unlink, rmdir, mkdir and mknod."""
    path = _named_path(call, memory)
    name = call.name.removesuffix("at")
    if name == "unlink" and "AT_REMOVEDIR" in call.argument(2):
        name = "rmdir"
    return _file_effect(call, _KINDS[name], path, _DETAILS.get(name, ""))


def on_metadata(call: Call, memory: Memory) -> Effects:
    """Return the effect of changing a file's mode, owner, times or attributes."""
    if call.name in _FOLDER_FIRST or call.argument(0).startswith('"'):
        return _file_effect(call, Kind.METADATA, _named_path(call, memory), call.name)
    file = read_descriptor(call.argument(0))
    if file.is_deleted:
        return ()
    return _file_effect(call, Kind.METADATA, file.path or None, call.name)


def _file_effect(call: Call, kind: Kind, path: str | None, detail: str = "") -> Effects:
    if path is None or call.result is None or is_noise(path):
        return ()
    if call.result >= 0:
        return (syscall_effect(kind, path, detail=detail),)
    if call.error not in _REFUSALS:
        return ()
    detail = f"{detail}; {call.error}".lstrip("; ")
    return (syscall_effect(kind, path, detail=detail, is_failed=True),)


def _named_path(call: Call, memory: Memory) -> str | None:
    if call.name in _FOLDER_FIRST:
        return memory.resolve(call, 1, 0)
    return memory.resolve(call, 0)
