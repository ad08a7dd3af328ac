"""Ways to reach a person. Each puts a question and answers it in the ledger; all run at once."""

from typing import Protocol

from sayso.approvals.answer import Strength
from sayso.approvals.ledger import Approvals
from sayso.approvals.question import Approval


class Channel(Protocol):
    """One way to reach a person."""

    @property
    def name(self) -> str:
        """As policy and records call it: `link`, `terminal`, `elicitation`."""
        ...

    @property
    def strength(self) -> Strength:
        """How sure it is that a person answers over it."""
        ...

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Put the question, and answer it in the ledger where the person does.

        Cancelled once the question is settled elsewhere, or its call waits no longer. Whatever
        goes wrong is for the log: the other channels go on.
        """
        ...
