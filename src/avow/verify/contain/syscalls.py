"""The system calls that are looked at, and strace around a box."""

from pathlib import Path
from typing import Final

_FILES: Final = """
?open openat ?openat2 ?creat truncate ftruncate fallocate
?rename renameat ?renameat2 ?link linkat ?symlink symlinkat ?unlink unlinkat ?rmdir
?mkdir mkdirat ?mknod mknodat
?chmod fchmod fchmodat ?fchmodat2 ?chown fchown ?lchown fchownat
?utime ?utimes ?futimesat utimensat ?file_setattr
setxattr lsetxattr fsetxattr ?setxattrat removexattr lremovexattr fremovexattr ?removexattrat
chdir fchdir chroot open_by_handle_at
"""

_BYTES: Final = """
write pwrite64 writev pwritev ?pwritev2 sendfile ?copy_file_range splice tee vmsplice
mmap msync io_submit ?io_uring_setup ?io_uring_enter ?io_uring_register
"""

_NETWORK: Final = "socket connect bind listen accept accept4 sendto sendmsg sendmmsg"

_PROCESSES: Final = """
execve ?execveat ?fork ?vfork clone ?clone3
kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo ?pidfd_send_signal ?pidfd_getfd
ptrace process_vm_writev unshare setns
mount umount2 pivot_root ?open_tree ?move_mount ?fsopen ?fsconfig ?fsmount ?mount_setattr
mq_open mq_timedsend mq_unlink shmget semop msgsnd
"""

TRACED: Final = tuple(f"{_FILES} {_BYTES} {_NETWORK} {_PROCESSES}".split())
"""Neither `read` nor `stat`: a call that only looks costs nothing. `?` goes before what an older
strace does not know, or another processor does not have. `mprotect` is not among them, since
just-in-time compilers live by it, nor `ioctl`, which Python does on each file that it opens; a
file that was changed through these shows in its state."""


def strace_words(program: str, trace: Path) -> tuple[str, ...]:
    """What goes before a command, so that its calls are written to `trace`, outside of its sight.

    `-A` adds to the file: a server may be started again.
    """
    options = ("-f", "--seccomp-bpf", "-yy", "-ttt", "-s", "256", "-A", "-o", str(trace))
    return (program, *options, "-e", f"trace={','.join(TRACED)}", "-e", "signal=none", "--")
