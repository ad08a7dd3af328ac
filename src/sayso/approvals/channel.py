"""Channels: ways to reach a person, which all run at once."""

from typing import Protocol

from sayso.approvals.answer import Strength
from sayso.approvals.ledger import Approvals
from sayso.approvals.question import Approval


class Channel(Protocol):
    """One way to reach a person. Policy and records call it by its `name`, such as `link`."""

    @property
    def name(self) -> str: ...

    @property
    def strength(self) -> Strength: ...

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Put the question, and answer it in the ledger where the person does.

        Cancelled once the question is settled elsewhere, or its call waits no longer. Whatever
        goes wrong is for the log: the other channels go on.
        """
        ...
