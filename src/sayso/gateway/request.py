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

    `elicit` and `rounds` ask the person at the client for an approval, if the client supports that.
    `caller` forwards servers' questions and messages to the client. `listener` belongs to the
    session (handshake eras only). `tool` is the called tool, if it was just found.
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
