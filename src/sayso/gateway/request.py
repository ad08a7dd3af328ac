"""A client's request, over any transport."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sayso.approvals import Elicit, Rounds
from sayso.catalog import Tool
from sayso.connect import HANDSHAKE_VERSIONS, Id
from sayso.gateway.caller import Caller
from sayso.gateway.notifications import Listener
from sayso.guard import Progress
from sayso.policy import Principal


@dataclass(slots=True)
class Request:
    """A request of any method, with its raw parameters.

    `elicit` and `rounds` are the ways to ask the client's person about an approval, if it has them,
    and `caller` is the way of servers to the client. `listener` is its session's, in the handshake
    eras. `client_name` is its program's name. `tool` is the tool that it calls, if just found.
    """

    method: str
    params: Mapping[str, Any]
    version: str
    principal: Principal
    progress: Progress
    elicit: Elicit | None = None
    rounds: Rounds | None = None
    caller: Caller | None = None
    listener: Listener | None = None
    id: Id | None = None
    client_name: str = "unknown"
    tool: Tool | None = None

    @property
    def is_modern(self) -> bool:
        return self.version not in HANDSHAKE_VERSIONS
