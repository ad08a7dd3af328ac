"""Servers and how to reach them: targets, connections, both eras of the protocol.

Importing this package imports no MCP SDK; `avow.connect.link` does, when a connection is opened.
"""

from typing import TYPE_CHECKING

from avow.connect.rpc import Fault, RpcError
from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.connect.kinds import (
        CommandTarget,
        SavedTarget,
        Target,
        UrlTarget,
        origin_of,
        place_of,
    )
    from avow.connect.target import parse_target

__all__ = [
    "CommandTarget",
    "Fault",
    "RpcError",
    "SavedTarget",
    "Target",
    "UrlTarget",
    "origin_of",
    "parse_target",
    "place_of",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.connect.kinds": (
            "CommandTarget",
            "SavedTarget",
            "Target",
            "UrlTarget",
            "origin_of",
            "place_of",
        ),
        "avow.connect.target": ("parse_target",),
    },
)
