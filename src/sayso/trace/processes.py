"""What calls do to processes: others are run, told to end, or the trace is blinded."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from sayso.trace import escapes
from sayso.trace.arguments import Call
from sayso.trace.effect import Effect, Kind
from sayso.trace.installs import is_install
from sayso.trace.memory import Memory
from sayso.trace.noise import tell

Effects = Sequence[Effect]

_PIDFD: Final = re.compile(r"<pid:(\d+)>")
_LONGEST: Final = 300
"""Characters of a command that are told."""


def on_execute(call: Call, memory: Memory) -> Effects:
    """Another program; one that installs packages also where it was not found."""
    del memory
    index = 2 if call.name == "execveat" else 1
    words = [
        word.decode("utf-8", "backslashreplace") for word in escapes.strings(call.argument(index))
    ]
    if not words:
        return ()
    target = shlex.join(words)[:_LONGEST]
    if is_install(words):
        return (tell(Kind.INSTALL, target, detail=call.error, is_failed=bool(call.error)),)
    if call.result != 0:
        return ()
    return (tell(Kind.EXECUTE, target),)


def on_signal(call: Call, memory: Memory) -> Effects:
    """A signal to a process that is not of the trace; 0 only asks whether it is there.

    `kill` names a group by a negative number, and the caller's own by 0.
    """
    target = call.argument(0)
    signal = call.argument(1)
    if call.result != 0 or signal in ("0", "") or target == "0":
        return ()
    process = target.lstrip("-")
    if number := _PIDFD.search(target):
        process = number[1]
    if process in memory.started:
        return ()
    return (tell(Kind.SIGNAL, f"process {target}", detail=signal),)


def on_blinding(call: Call, memory: Memory) -> Effects:
    """From here on the trace may not show all. What was refused blinds nobody."""
    del memory
    if call.result is None or call.result < 0:
        return ()
    return (tell(Kind.BLIND, call.name),)
