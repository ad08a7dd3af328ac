"""The system calls that are traced: all that change the world, none that only read.

Each stop costs 40 to 100 µs, so what is called often and changes nothing is left out: `read`,
`stat`, `close`, `futex`, `ioctl` (one for each file that Python opens). With `ioctl` goes
FICLONE: where its target was not opened for it, the observer of files sees what it did. `tgkill`
is left out because Go's runtime wakes its own threads with it.
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
"""After one of these, the trace may no longer show all, or not under the names it seems to."""

_EVERYWHERE: Final = frozenset({"write", "writev", "sendto", "sendmsg", "execve", "mmap", "chdir"})

TRACED: Final = (
    *sorted(_EVERYWHERE),
    *(
        f"?{name}"
        for group in (
            *(OPENS, WRITES, COPIES, SIZES, MAPS, NAMES, METADATA, SOCKETS, PROCESSES, BLINDING),
        )
        for name in group
        if name not in _EVERYWHERE
    ),
)
"""What `strace -e trace=` is given, joined by commas.

A `?` lets strace go on where it does not know the call, because it is older than the call or
because this kind of processor has it not.
"""
