"""A helper program: listen inside another process's network namespace, and pass the sockets back.

Usage: `python -I -S namespace_sockets.py SOCKET_FD PID HOST:PORT…`. A socket belongs to the
namespace in which it was made, so no process of sayso needs to stay there.
"""

import ctypes
import fcntl
import os
import socket
import sys

_OWNER = 0xB701
"""NS_GET_USERNS (linux/nsfs.h): get the user namespace that owns a namespace."""

_NEW_USER = 0x10000000
_NEW_NET = 0x40000000

_FREEBIND_4 = 15
_FREEBIND_6 = 78
"""IP_FREEBIND and IPV6_FREEBIND: the address may come up later than the socket."""


def main(argv: list[str]) -> None:
    """Enter the namespace, listen, and pass the sockets."""
    link = socket.socket(fileno=int(argv[0]))
    enter(int(argv[1]))
    listeners = [listen(address) for address in argv[2:]]
    socket.send_fds(link, [b"."], [file.fileno() for file in listeners])


def enter(pid: int) -> None:
    """Move this process into another one's network namespace."""
    kernel = ctypes.CDLL(None, use_errno=True)
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, _OWNER)
    for namespace, kind in ((owner, _NEW_USER), (network, _NEW_NET)):
        if kernel.setns(namespace, kind) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))


def listen(address: str) -> socket.socket:
    """Return a socket that listens at `host:port`."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET:
        listener.setsockopt(socket.IPPROTO_IP, _FREEBIND_4, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IPV6, _FREEBIND_6, 1)
    listener.bind((host, int(port)))
    listener.listen()
    return listener


if __name__ == "__main__":
    main(sys.argv[1:])
