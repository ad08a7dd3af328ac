"""One request of a client, whichever door it came through."""

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

    `elicit` and `rounds` are how its client can ask its person about an approval, as far as it
    can, and `caller` is how servers reach that client. `listener` is its session's, in the
    handshake eras. `client_name` is what its program calls itself. `tool` is the tool that it
    calls, where that was found just before.
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
