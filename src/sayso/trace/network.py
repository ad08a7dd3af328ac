"""Effects of system calls on the network: connections, messages, name lookups."""

import re
import struct
from collections.abc import Sequence
from typing import Final

from sayso.trace import escapes
from sayso.trace.address import Address, read_address, read_pair
from sayso.trace.arguments import Call
from sayso.trace.descriptor import Descriptor, read_descriptor
from sayso.trace.effect import Effects, Kind, syscall_effect
from sayso.trace.memory import PENDING, Memory
from sayso.trace.noise import is_noise_socket

_PAYLOAD: Final = re.compile(r'iov_base="((?:[^"\\]|\\.)*)"')
_NOT_SENT: Final = frozenset({"EAGAIN", "EWOULDBLOCK", "EINTR", "EPIPE", "ENOTCONN", "EBADF"})
SENDS: Final = frozenset({"sendto", "sendmsg", "sendmmsg", "write", "writev"})
_REQUEST: Final = re.compile(rb"[A-Z]{3,10} [^\s\x00-\x1f]+(?: HTTP/\d(?:\.\d)?)?(?=\r?\n|$)")
_LONGEST: Final = 200
_DNS_HEADER: Final = 12
_LONGEST_LABEL: Final = 63
_DNS_RESPONSE: Final = 0x8000
_DNS_LABEL: Final = re.compile(rb"[\x21-\x7e]+")
_DNS_TYPES: Final = {
    1: "A",
    2: "NS",
    5: "CNAME",
    12: "PTR",
    15: "MX",
    16: "TXT",
    28: "AAAA",
    33: "SRV",
}


def on_connect(call: Call, memory: Memory) -> Effects:
    """Return the effect of a connection attempt.

    A UDP socket sends nothing when it connects, so only a refused connection counts: no sends
    follow it. Port 0 does not count: the C library connects there to learn its source address.
    """
    address = read_address(call.argument(1))
    socket = read_descriptor(call.argument(0))
    if address is None or call.result is None or not _counts(address, memory):
        return ()
    is_failed = call.result < 0 and call.error not in PENDING
    if socket.socket.startswith("UDP"):
        if not is_failed or address.port == 0:
            return ()
        kind = Kind.LOOKUP if address.is_name_service else Kind.CONNECT
        detail = f"UDP; {call.error}"
        return (syscall_effect(kind, str(address), detail=detail, is_failed=True),)
    return (syscall_effect(Kind.CONNECT, str(address), detail=call.error, is_failed=is_failed),)


def _counts(address: Address, memory: Memory) -> bool:
    if address.family in ("AF_UNSPEC", "AF_NETLINK", "AF_ALG"):
        return False
    if address.family == "AF_UNIX" and is_noise_socket(address.host):
        return False
    return not memory.is_private(address)


def on_listen(call: Call, memory: Memory) -> Effects:
    """Return the effect of listening on a port."""
    socket = read_descriptor(call.argument(0))
    address = memory.bound.get(socket.identity) or read_pair(socket.identity)[0]
    if call.result != 0 or not socket.socket.startswith("TCP"):
        return ()
    if address is None or not address.is_internet:
        return (syscall_effect(Kind.LISTEN, "0.0.0.0:0"),)
    return (syscall_effect(Kind.LISTEN, str(address)),)


def on_send(call: Call, memory: Memory) -> Effects:
    """Return the effects of a call that sends a message or looks up names."""
    socket = read_descriptor(call.argument(0))
    if not socket.socket or call.result is None or call.error in _NOT_SENT:
        return ()
    address = _destination(call, socket, memory)
    if address is None or not _counts(address, memory):
        return ()
    is_failed = call.result < 0
    if address.is_name_service and (queries := _lookups(call)):
        return tuple(
            syscall_effect(Kind.LOOKUP, name, detail=f"{kind} from {address}", is_failed=is_failed)
            for name, kind in queries
        )
    if address.family == "AF_UNIX" and not socket.socket.startswith("UNIX"):
        return ()
    first = request_line(call) or memory.requests.get(socket.identity, "")
    detail = "; ".join(part for part in (first, call.error) if part)
    return (syscall_effect(Kind.SEND, str(address), detail=detail, is_failed=is_failed),)


def request_line(call: Call) -> str:
    """Return the first line of an HTTP request, such as `GET /a HTTP/1.1`, or ""."""
    for payload in _payloads(call):
        if match := _REQUEST.match(payload):
            return match[0].decode("ascii", "replace")[:_LONGEST]
    return ""


def _payloads(call: Call) -> Sequence[bytes]:
    first = escapes.quoted(call.argument(1))
    if first is not None:
        return [first]
    return [escapes.plain(text) for text in _PAYLOAD.findall(" ".join(call.arguments[1:]))]


def _destination(call: Call, socket: Descriptor, memory: Memory) -> Address | None:
    places = {"sendto": 4, "sendmsg": 1, "sendmmsg": 1}
    if call.name in places:
        named = read_address(" ".join(call.arguments[places[call.name] :]))
        if named is not None:
            return named
    if socket.identity in memory.peers:
        return memory.peers[socket.identity]
    local, remote = read_pair(socket.identity)
    # A traced process listens on this port, so the message answers an accepted connection.
    if local is not None and f"*:{local.port}" in memory.listening:
        return None
    return remote


def _lookups(call: Call) -> Sequence[tuple[str, str]]:
    queries = map(read_query, _payloads(call))
    return tuple(dict.fromkeys(query for query in queries if query is not None))


def read_query(payload: bytes) -> tuple[str, str] | None:
    """Return the name and record type of a DNS query, which may be cut (RFC 1035, section 4)."""
    return _read_query(payload) or _read_query(payload[2:])


def _read_query(payload: bytes) -> tuple[str, str] | None:
    if len(payload) <= _DNS_HEADER:
        return None
    _, flags, questions = struct.unpack_from("!HHH", payload)
    if flags & _DNS_RESPONSE or questions != 1:
        return None
    labels: list[str] = []
    offset = _DNS_HEADER
    while offset < len(payload) and (length := payload[offset]):
        label = payload[offset + 1 : offset + 1 + length]
        if length > _LONGEST_LABEL or not _DNS_LABEL.fullmatch(label):
            return None
        labels.append(label.decode("ascii"))
        offset += 1 + length
    if not labels:
        return None
    kind = int.from_bytes(payload[offset + 1 : offset + 3])
    return ".".join(labels), _DNS_TYPES.get(kind, str(kind))
