"""The caller's own client as a channel, by elicitation. It is relayed by the client, so weaker.

Before 2026-07-28 the server asks the client while the call waits (`elicitation/create`). Since
then the call is answered with a request for input and a state; the client makes the same call
again with both (MCP 2026-07-28, multi round-trip requests). The state comes back from the client,
so it is sealed, bound to the question and the caller, and good for one use in the ledger.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.approvals.answer import Answer, Strength
from sayso.approvals.ledger import Approvals
from sayso.approvals.question import Approval, Question
from sayso.approvals.sentence import tell
from sayso.errors import SealError
from sayso.keys import Keyring
from sayso.schema import quoted

INPUT: Final = "io.sayso/approval"
"""The name of sayso's one input request."""

SEALED_FOR: Final = "elicitation"
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "approve": {
            "type": "boolean",
            "title": "Approve this call",
            "description": "It runs once, with exactly these arguments.",
            "default": False,
        }
    },
    "required": ["approve"],
}

FORM: Final = "form"
URL: Final = "url"
"""The modes of elicitation: a form in the client, and a page that the client leads to."""
MODES_SINCE: Final = "2025-11-25"
"""The version of the protocol that has more than forms."""


def modes_of(capability: object, version: str) -> frozenset[str]:
    """Return what a client can show, by its capability `elicitation`: by default forms.

    A mode that it does not name must not be sent (MCP 2026-07-28, elicitation, capabilities).
    """
    if not isinstance(capability, Mapping):
        return frozenset()
    modes = cast("Mapping[str, Any]", capability)
    named = {mode for mode, options in modes.items() if options is not None} or {FORM}
    if version < MODES_SINCE:
        return frozenset(named & {FORM})
    return frozenset(named & {FORM, URL})


async def _tell_nobody(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Elicit:
    """How the caller's client is asked while its call waits, in those `modes` that it can show.

    `send` sends `elicitation/create` with these parameters and gives the client's result.
    `complete` tells the client that the page it was led to, by this id, is done with.
    """

    send: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
    modes: frozenset[str] = frozenset({FORM})
    complete: Callable[[str], Awaitable[None]] = _tell_nobody


@dataclass(frozen=True, slots=True)
class Rounds:
    """How a client of 2026-07-28 is asked: by an answer that wants the call made again.

    `responses` and `state` are what this call brought along of an earlier one, if any.
    """

    responses: Mapping[str, Any] | None = None
    state: str | None = None
    modes: frozenset[str] = frozenset({FORM})

    @property
    def response(self) -> Mapping[str, Any] | None:
        response: Any = (self.responses or {}).get(INPUT)
        if not isinstance(response, Mapping):
            return None
        return cast("Mapping[str, Any]", response)


def verdict_of(result: Mapping[str, Any]) -> bool | None:
    """Return whether a client's answer allows or denies; `None` where it was dismissed."""
    action = result.get("action")
    content = result.get("content")
    if action == "decline":
        return False
    if action != "accept" or not isinstance(content, Mapping):
        return None
    approve = cast("Mapping[str, Any]", content).get("approve")
    return approve if isinstance(approve, bool) else None


@dataclass(frozen=True, slots=True)
class ElicitationChannel:
    """Asks through the client that makes the call, while the call waits."""

    elicit: Elicit
    client: str
    name: str = "elicitation"
    strength: Strength = Strength.RELAYED

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        verdict = verdict_of(await self.elicit.send(form(approval.question)))
        if verdict is not None:
            await approvals.answer(approval.number, relayed(self.client, is_allowed=verdict))


def relayed(client: str, *, is_allowed: bool) -> Answer:
    """Return the answer of a person at a client, as that client relays it."""
    by = f"a person at {quoted(client)}"
    return Answer(is_allowed=is_allowed, by=by, channel="elicitation", strength=Strength.RELAYED)


def form(question: Question) -> dict[str, Any]:
    """Return the parameters of `elicitation/create` for one question."""
    return {"mode": FORM, "message": "\n".join(tell(question)), "requestedSchema": dict(_SCHEMA)}


def ask_client(keys: Keyring, approval: Approval) -> dict[str, Any]:
    """Return the result that asks a client of 2026-07-28 for input."""
    question = approval.question
    state = {"number": approval.number, "expires": approval.expires, "use": secrets.token_hex(16)}
    return {
        "resultType": "input_required",
        "inputRequests": {INPUT: {"method": "elicitation/create", "params": form(question)}},
        "requestState": keys.seal(SEALED_FOR, state, bound={"binding": question.binding}),
    }


async def take_answer(
    keys: Keyring, approvals: Approvals, approval: Approval, rounds: Rounds, client: str
) -> None:
    """Answer a question with what the client brought back.

    Raises `SealError` for a state that sayso did not make for this question, that has expired, or
    that was used before. Where the person dismissed the question, nothing is answered.
    """
    bound = {"binding": approval.question.binding}
    state: dict[str, Any] = keys.open(SEALED_FOR, rounds.state or "", bound=bound)
    now = approvals.clock()
    if state["number"] != approval.number or now >= state["expires"]:
        raise SealError("this state is of another question, or too old")
    if not await approvals.tokens.spend(state["use"], now=now, expires=state["expires"]):
        raise SealError("this state was used before")
    verdict = verdict_of(rounds.response or {})
    if verdict is not None:
        await approvals.answer(approval.number, relayed(client, is_allowed=verdict))
