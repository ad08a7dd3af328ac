"""Who calls, and what may run. Pure: no I/O, no SDK."""

from avow.policy.decide import Decision, Effect, Mode, decide, is_visible
from avow.policy.principal import LOCAL, Principal

__all__ = ["LOCAL", "Decision", "Effect", "Mode", "Principal", "decide", "is_visible"]
