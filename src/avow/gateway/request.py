"""One request of a client, whichever door it came through."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from avow.approvals import Elicit, Rounds
from avow.connect.envelope import HANDSHAKE_VERSIONS
from avow.connect.message import Id
from avow.gateway.caller import Caller
from avow.gateway.hub import Listener
from avow.guard.call import Progress
from avow.policy import Principal


@dataclass(slots=True)
class Request:
    """A request of any method, with its raw parameters.

    `elicit` and `rounds` are how its client can ask its person about an approval, as far as it
    can, and `caller` is how servers reach that client. `listener` is its session's, in the
    handshake eras. `client_name` is what its program calls itself.
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

    @property
    def is_modern(self) -> bool:
        """Whether it stands alone (since 2026-07-28)."""
        return self.version not in HANDSHAKE_VERSIONS
