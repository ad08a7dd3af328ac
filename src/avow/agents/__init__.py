"""For agents: avow's guard around a client of the official SDK, without a gateway."""

from avow.agents.guarded import Guarded
from avow.agents.opening import TEMPORARY, wrap

__all__ = ["TEMPORARY", "Guarded", "wrap"]
