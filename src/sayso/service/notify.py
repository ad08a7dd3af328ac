"""The message with which a service tells systemd that it is ready: sd_notify(3)."""

import logging
import os
import socket
from typing import Final

_VARIABLE: Final = "NOTIFY_SOCKET"

_log: Final = logging.getLogger(__name__)


def notify_ready() -> None:
    """Tell systemd that the service is ready; do nothing if systemd does not wait for it.

    Removes the variable, so that no program which is started later can use it.
    """
    address = os.environ.pop(_VARIABLE, "")
    if not address:
        return
    if address.startswith("@"):
        address = f"\0{address[1:]}"  # an abstract socket
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"READY=1", address)
    except OSError as error:
        _log.warning("cannot tell systemd that the gateway is ready: %s", error.strerror)
