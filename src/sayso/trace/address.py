"""Socket addresses, read from strace's structures."""

import re
from dataclasses import dataclass
from typing import Final

from sayso.trace import escapes

_FAMILY: Final = re.compile(r"sa_family=(AF_\w+|\d+)")
_PORT: Final = re.compile(r"sin6?_port=htons\((\d+)\)")
_IPV4: Final = re.compile(r'sin_addr=inet_addr\("([^"]*)"\)')
_IPV6: Final = re.compile(r'inet_pton\(AF_INET6, "([^"]*)"')
_UNIX: Final = re.compile(r'sun_path=(@?)"((?:[^"\\]|\\.)*)"')
_LOOPBACK: Final = re.compile(r"127\.|::1$|::ffff:127\.")
_NAME_SERVICES: Final = frozenset({53, 853, 5353, 5355})


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a socket. `family` is `AF_INET`, `AF_UNIX` and so on.

    `host` is a numeric address or the path of a Unix socket, with `@` before an abstract name.
    """

    family: str
    host: str = ""
    port: int = 0

    def __str__(self) -> str:
        match self.family:
            case "AF_INET6":
                return f"[{self.host}]:{self.port}"
            case "AF_INET":
                return f"{self.host}:{self.port}"
            case "AF_UNIX":
                return f"unix:{self.host}"
            case _:
                return self.family

    @property
    def is_internet(self) -> bool:
        return self.family in ("AF_INET", "AF_INET6")

    @property
    def is_loopback(self) -> bool:
        """Return whether the address is on this machine; `0.0.0.0` reaches this machine too."""
        return self.host in ("0.0.0.0", "::") or _LOOPBACK.match(self.host) is not None  # noqa: S104 - compared, not bound

    @property
    def is_name_service(self) -> bool:
        """Return whether the port is one of a name service: DNS, DNS over TLS, mDNS, LLMNR."""
        return self.is_internet and self.port in _NAME_SERVICES


def read_address(text: str) -> Address | None:
    """Return the first address in a text, or `None`."""
    family = _FAMILY.search(text)
    if family is None:
        return None
    if family[1] == "AF_UNIX":
        path = _UNIX.search(text)
        if path is None:
            return Address("AF_UNIX")
        return Address("AF_UNIX", path[1] + escapes.path(path[2]))
    host = {"AF_INET6": _IPV6}.get(family[1], _IPV4).search(text)
    port = _PORT.search(text)
    if host is None or port is None:
        return Address(family[1])
    return Address(family[1], host[1], min(int(port[1]), 65535))


def read_pair(identity: str) -> tuple[Address | None, Address | None]:
    """Return the local and remote address of `127.0.0.1:80->127.0.0.1:9` (`strace -yy`)."""
    local, _, remote = identity.partition("->")
    return _read_end(local), _read_end(remote)


def _read_end(text: str) -> Address | None:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal():
        return None
    if host.startswith("["):
        return Address("AF_INET6", host.strip("[]"), min(int(port), 65535))
    return Address("AF_INET", host, min(int(port), 65535))
