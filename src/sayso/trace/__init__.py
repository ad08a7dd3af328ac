"""The system calls of a traced program, read from strace's output, and the effects they have."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.trace.address import read_address
    from sayso.trace.arguments import Call
    from sayso.trace.calls import METADATA, NAMES, OPENS, TRACED
    from sayso.trace.effect import Blob, Effect, Kind, Life, Loss, Observer, syscall_effect
    from sayso.trace.escapes import quoted_path
    from sayso.trace.files import MAPPED, PERHAPS_MADE
    from sayso.trace.handlers import effects_of, learn
    from sayso.trace.idle import (
        Activity,
        descendants,
        measure_activity,
        process_of,
        process_parents,
    )
    from sayso.trace.installs import is_install
    from sayso.trace.lines import CallReader, Line, LineKind, read_line
    from sayso.trace.memory import Memory
    from sayso.trace.noise import is_noise, is_noise_socket
    from sayso.trace.process_tree import ProcessTree
    from sayso.trace.tail import Tail
    from sayso.trace.window import Window


__all__ = [
    "MAPPED",
    "METADATA",
    "NAMES",
    "OPENS",
    "PERHAPS_MADE",
    "TRACED",
    "Activity",
    "Blob",
    "Call",
    "CallReader",
    "Effect",
    "Kind",
    "Life",
    "Line",
    "LineKind",
    "Loss",
    "Memory",
    "Observer",
    "ProcessTree",
    "Tail",
    "Window",
    "descendants",
    "effects_of",
    "is_install",
    "is_noise",
    "is_noise_socket",
    "learn",
    "measure_activity",
    "process_of",
    "process_parents",
    "quoted_path",
    "read_address",
    "read_line",
    "syscall_effect",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.trace.address": ("read_address",),
        "sayso.trace.arguments": ("Call",),
        "sayso.trace.calls": ("METADATA", "NAMES", "OPENS", "TRACED"),
        "sayso.trace.effect": (
            "Blob",
            "Effect",
            "Kind",
            "Life",
            "Loss",
            "Observer",
            "syscall_effect",
        ),
        "sayso.trace.escapes": ("quoted_path",),
        "sayso.trace.process_tree": ("ProcessTree",),
        "sayso.trace.files": ("MAPPED", "PERHAPS_MADE"),
        "sayso.trace.idle": (
            "Activity",
            "descendants",
            "measure_activity",
            "process_of",
            "process_parents",
        ),
        "sayso.trace.installs": ("is_install",),
        "sayso.trace.handlers": ("effects_of", "learn"),
        "sayso.trace.memory": ("Memory",),
        "sayso.trace.noise": ("is_noise", "is_noise_socket"),
        "sayso.trace.lines": ("LineKind", "Line", "CallReader", "read_line"),
        "sayso.trace.tail": ("Tail",),
        "sayso.trace.window": ("Window",),
    },
)
