"""Leading the person at the caller's client to the page of a question (URL elicitation).

What the client says of it is never an answer. `accept` means that its person agreed to open the
page (MCP 2026-07-28, elicitation, URL mode), and whether anybody did is not known. The page itself
takes the answer. Its address names the question and opens nothing: whoever opens it must log in,
so an agent that fetches it learns and answers nothing. A signed link is therefore never shown
like this, since it needs no login.
"""

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from sayso.approvals.answer import Strength
from sayso.approvals.elicitation import INPUT, URL, Elicit
from sayso.approvals.ledger import Approvals
from sayso.approvals.question import Approval, Question
from sayso.approvals.sentence import tell
from sayso.store import ApprovalState

_log: Final = logging.getLogger(__name__)

_HOW: Final = "The page takes the answer. To open it is not to approve."


def page_of(console: str | None, number: int) -> str | None:
    """Return the address of a question's page below a console's; `None` without such an address.

    Nothing that could be a secret is taken along: no user, no query, no fragment.

    >>> page_of("http://127.0.0.1:8321/console/", 7)
    'http://127.0.0.1:8321/console/approvals/7'
    """
    try:
        parts = urlsplit(console or "")
    except ValueError:
        return None
    host = parts.netloc.rpartition("@")[2]
    if parts.scheme not in ("http", "https") or not host:
        return None
    path = f"{parts.path.rstrip('/')}/approvals/{number}"
    return urlunsplit((parts.scheme, host, path, "", ""))


def visit(question: Question, page: str) -> dict[str, Any]:
    """Return the parameters of `elicitation/create` that lead to the page of one question."""
    return {"mode": URL, "message": "\n".join([*tell(question), _HOW]), "url": page}


def ask_to_visit(question: Question, page: str) -> dict[str, Any]:
    """Return the result that has a client of 2026-07-28 lead its person to the page.

    Without a state: what comes back is worth nothing, so there is nothing to protect.
    """
    request = {"method": "elicitation/create", "params": visit(question, page)}
    return {"resultType": "input_required", "inputRequests": {INPUT: request}}


def is_declined(result: Mapping[str, Any] | None) -> bool:
    """Return whether the person at the client will not open the page."""
    return result is not None and result.get("action") == "decline"


@dataclass(slots=True)
class VisitChannel:
    """Leads the person at the client that makes the call to the page, while the call waits.

    `is_declined` once somebody there said that they will not open it.
    """

    elicit: Elicit
    page: str
    name: str = "console"
    strength: Strength = Strength.OUT_OF_BAND
    is_declined: bool = False
    _id: str = field(default_factory=lambda: secrets.token_hex(16))
    _is_open: bool = False

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        """Lead to the page, which takes the answer."""
        del approvals
        params = {**visit(approval.question, self.page), "elicitationId": self._id}
        result = await self.elicit.send(params)
        self.is_declined = is_declined(result)
        self._is_open = result.get("action") == "accept"

    async def end(self, approval: Approval) -> None:
        """Tell the client that the page is done with, where it led there and somebody answered."""
        if not self._is_open or approval.state is ApprovalState.PENDING:
            return
        try:
            await self.elicit.complete(self._id)
        except Exception:  # noqa: BLE001 - a courtesy: the call goes on whatever became of it
            _log.warning("the client could not be told of approval %s", approval.number)
