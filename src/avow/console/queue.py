"""The questions as they stand: those that wait, and those that were settled lately."""

import hashlib
from dataclasses import dataclass
from typing import Final

from avow.approvals import Approval, Approvals, ApprovalState

_MOST: Final = 500
_MOST_RECENT: Final = 20


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits, the oldest first, so that a new question moves none that is being read.

    `version` changes whenever a question comes or changes its state.
    """

    pending: tuple[Approval, ...]
    recent: tuple[Approval, ...]
    version: str


async def load_queue(approvals: Approvals) -> Queue:
    """The queue as it stands now."""
    newest = await approvals.newest(_MOST)
    pending = [one for one in newest if one.state is ApprovalState.PENDING]
    recent = [one for one in newest if one.state is not ApprovalState.PENDING][:_MOST_RECENT]
    states = ",".join(f"{one.number}{one.state}" for one in (*pending, *recent))
    version = hashlib.sha256(states.encode()).hexdigest()[:16]
    return Queue(tuple(reversed(pending)), tuple(recent), version)
