"""The system calls that strace traces: all that change something, and none that only read.

Each traced call costs 40 to 100 µs, so frequent harmless calls are left out: `read`, `stat`,
`close`, `futex`, `ioctl` (Python calls it once per opened file), and `tgkill` (Go's runtime wakes
its threads with it). Leaving out `ioctl` hides FICLONE, but the file observer sees its effect.
"""

from typing import Final

OPENS: Final = ("open", "openat", "openat2", "creat")
WRITES: Final = ("write", "writev", "pwrite64", "pwritev", "pwritev2")
COPIES: Final = ("copy_file_range", "sendfile", "splice")
SIZES: Final = ("truncate", "ftruncate", "fallocate")
MAPS: Final = ("mmap", "msync")
NAMES: Final = (
    *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat"),
    *("unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat"),
)
METADATA: Final = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    *("removexattr", "lremovexattr", "fremovexattr", "removexattrat"),
)
SOCKETS: Final = ("connect", "bind", "listen", "getsockname", "sendto", "sendmsg", "sendmmsg")
PROCESSES: Final = (
    *("execve", "execveat", "clone", "clone3", "fork", "vfork", "chdir", "fchdir"),
    *("kill", "rt_sigqueueinfo", "pidfd_send_signal"),
)
BLINDING: Final = (
    *("io_uring_setup", "ptrace", "process_vm_writev", "pidfd_getfd", "bpf", "setns", "unshare"),
    *("mount", "umount2", "move_mount", "open_tree", "fsmount", "mount_setattr", "pivot_root"),
    *("chroot", "open_by_handle_at"),
)
"""After one of these calls the trace may be incomplete, or show different paths."""

_EVERYWHERE: Final = frozenset({"write", "writev", "sendto", "sendmsg", "execve", "mmap", "chdir"})

TRACED: Final = (
    *sorted(_EVERYWHERE),
    *(
        f"?{name}"
        for name in (
            *(*OPENS, *WRITES, *COPIES, *SIZES, *MAPS, *NAMES, *METADATA),
            *(*SOCKETS, *PROCESSES, *BLINDING),
        )
        if name not in _EVERYWHERE
    ),
)
"""The calls for `strace -e trace=`, to be joined by commas.

The prefix `?` makes strace ignore a call that strace or this processor does not know.
"""
