"""strace around a box."""

from pathlib import Path

from sayso.trace import TRACED


def strace_words(program: str, trace: Path) -> tuple[str, ...]:
    """What goes before a command, so that its calls are written to `trace`, outside of its sight.

    `-A` adds to the file: a server may be started again.
    """
    options = ("-f", "--seccomp-bpf", "-yy", "-ttt", "-s", "256", "-A", "-o", str(trace))
    return (program, *options, "-e", f"trace={','.join(TRACED)}", "-e", "signal=none", "--")
