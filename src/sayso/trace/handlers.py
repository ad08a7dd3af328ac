"""The table of handlers: for each system call, the function that returns its effects."""

from collections.abc import Callable, Sequence
from typing import Final

from sayso.trace import calls, files, network, processes
from sayso.trace.arguments import Call
from sayso.trace.descriptor import read_descriptor
from sayso.trace.effect import Effect
from sayso.trace.memory import Memory

Meaning = Callable[[Call, Memory], Sequence[Effect]]


def _on_write(call: Call, memory: Memory) -> Sequence[Effect]:
    return files.on_write(call, memory) or network.on_send(call, memory)


_MEANINGS: Final[dict[str, Meaning]] = {
    **dict.fromkeys(calls.OPENS, files.on_open),
    **dict.fromkeys((*calls.WRITES, *calls.COPIES), _on_write),
    **dict.fromkeys(calls.SIZES, files.on_size),
    **dict.fromkeys(calls.MAPS, files.on_map),
    **dict.fromkeys(calls.NAMES, files.on_name),
    **dict.fromkeys(("rename", "renameat", "renameat2"), files.on_rename),
    **dict.fromkeys(("link", "linkat", "symlink", "symlinkat"), files.on_link),
    **dict.fromkeys(calls.METADATA, files.on_metadata),
    **dict.fromkeys(("sendto", "sendmsg", "sendmmsg"), network.on_send),
    "connect": network.on_connect,
    "listen": network.on_listen,
    "execve": processes.on_execute,
    "execveat": processes.on_execute,
    **dict.fromkeys(("kill", "rt_sigqueueinfo", "pidfd_send_signal"), processes.on_signal),
    **dict.fromkeys(calls.BLINDING, processes.on_blinding),
}


def learn(call: Call, memory: Memory) -> None:
    """Remember what later calls depend on, such as an opened path. Use it after `effects_of`."""
    memory.learn(call)
    if call.name in network.SENDS and (line := network.request_line(call)):
        memory.requests.put(read_descriptor(call.argument(0)).identity, line)


def effects_of(call: Call, memory: Memory) -> Sequence[Effect]:
    """Return the effects of a system call. Most have none. The tool call's number is not set."""
    if call.name not in _MEANINGS:
        return ()
    return _MEANINGS[call.name](call, memory)
