"""Effects of system calls on processes, and calls that blind the trace."""

import re
import shlex
from typing import Final

from sayso.trace import escapes
from sayso.trace.arguments import Call
from sayso.trace.effect import Effects, Kind, syscall_effect
from sayso.trace.installs import is_install
from sayso.trace.memory import Memory

_PIDFD: Final = re.compile(r"<pid:(\d+)>")
_LONGEST: Final = 300
"""The maximum number of characters of a command in an effect."""


def on_execute(call: Call, memory: Memory) -> Effects:
    """Return the effect of running a program. A failed start counts only for an installer."""
    del memory
    index = 2 if call.name == "execveat" else 1
    words = [
        word.decode("utf-8", "backslashreplace") for word in escapes.strings(call.argument(index))
    ]
    if not words:
        return ()
    target = shlex.join(words)[:_LONGEST]
    if is_install(words):
        is_failed = bool(call.error)
        return (syscall_effect(Kind.INSTALL, target, detail=call.error, is_failed=is_failed),)
    if call.result != 0:
        return ()
    return (syscall_effect(Kind.EXECUTE, target),)


def on_signal(call: Call, memory: Memory) -> Effects:
    """Return the effect of a signal, unless the server started the process that receives it."""
    target = call.argument(0)
    signal = call.argument(1)
    if call.result != 0 or signal in ("0", "") or target == "0":  # target 0: its own group
        return ()
    process = target.lstrip("-")
    if number := _PIDFD.search(target):
        process = number[1]
    if process in memory.started:
        return ()
    return (syscall_effect(Kind.SIGNAL, f"process {target}", detail=signal),)


def on_blinding(call: Call, memory: Memory) -> Effects:
    """Return the effect of a call after which the trace may be incomplete."""
    del memory
    if call.result is None or call.result < 0:
        return ()
    return (syscall_effect(Kind.BLIND, call.name),)
