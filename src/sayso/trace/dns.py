"""The name that a DNS query asks for (RFC 1035, section 4)."""

import re
import struct
from typing import Final

_HEADER: Final = 12
_LONGEST_LABEL: Final = 63
_RESPONSE: Final = 0x8000
_LABEL: Final = re.compile(rb"[\x21-\x7e]+")
_TYPES: Final = {1: "A", 2: "NS", 5: "CNAME", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV"}


def read_query(payload: bytes) -> tuple[str, str] | None:
    """The name and the type of record that are asked for, or `None` where it is no query.

    Over TCP a query is preceded by its length; both are understood. The payload may be cut.
    """
    return _read(payload) or _read(payload[2:])


def _read(payload: bytes) -> tuple[str, str] | None:
    if len(payload) <= _HEADER:
        return None
    _, flags, questions = struct.unpack_from("!HHH", payload)
    if flags & _RESPONSE or questions != 1:
        return None
    labels: list[str] = []
    at = _HEADER
    while at < len(payload) and (length := payload[at]):
        label = payload[at + 1 : at + 1 + length]
        if length > _LONGEST_LABEL or not _LABEL.fullmatch(label):
            return None
        labels.append(label.decode("ascii"))
        at += 1 + length
    if not labels:
        return None
    kind = int.from_bytes(payload[at + 1 : at + 3])
    return ".".join(labels), _TYPES.get(kind, str(kind))
