"""URL elicitation: the calling client opens a question's page in the console.

The client's result is never an answer: `accept` only means that the person agreed to open the page
(MCP 2026-07-28, elicitation, URL mode). The page requires a login before the answer, so an agent
that fetches it gains nothing. Signed links need no login, so clients never receive them.
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

_HOW: Final = "Answer on the page. Opening it approves nothing."


def page_of(console: str | None, number: int) -> str | None:
    """Return the URL of a question's page; `None` if the console's URL is missing or invalid.

    The console URL's user, query and fragment are dropped, because they may be secret.

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


def url_request(question: Question, page: str) -> dict[str, Any]:
    """Return the parameters of `elicitation/create` for a question's page."""
    return {"mode": URL, "message": "\n".join([*tell(question), _HOW]), "url": page}


def ask_to_open_page(question: Question, page: str) -> dict[str, Any]:
    """Return the result, without a state, that makes a client of 2026-07-28 open the page."""
    request = {"method": "elicitation/create", "params": url_request(question, page)}
    return {"resultType": "input_required", "inputRequests": {INPUT: request}}


def is_declined(result: Mapping[str, Any] | None) -> bool:
    """Return whether the person declined to open the page."""
    return result is not None and result.get("action") == "decline"


@dataclass(slots=True)
class UrlElicitationChannel:
    """Opens the page in the client while the call waits; `is_declined` if the person refused."""

    elicit: Elicit
    page: str
    name: str = "console"
    strength: Strength = Strength.OUT_OF_BAND
    is_declined: bool = False
    _id: str = field(default_factory=lambda: secrets.token_hex(16))
    _is_open: bool = False

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        del approvals
        params = {**url_request(approval.question, self.page), "elicitationId": self._id}
        result = await self.elicit.send(params)
        self.is_declined = is_declined(result)
        self._is_open = result.get("action") == "accept"

    async def end(self, approval: Approval) -> None:
        """Notify a client that opened the page, if the question is settled."""
        if not self._is_open or approval.state is ApprovalState.PENDING:
            return
        try:
            await self.elicit.complete(self._id)
        except Exception:  # noqa: BLE001 - the call continues without the notification
            _log.warning("could not notify the client of approval %s", approval.number)
