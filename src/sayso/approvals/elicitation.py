"""Elicitation: asking through the calling client. The answer it relays has strength `relayed`.

Before MCP 2026-07-28 the server sends `elicitation/create` while the call waits. Since then the
call returns a request for input and a state. The client then repeats the call with its response
and the state (multi round-trip requests). The state is sealed, bound to the question and the
caller, and can be used once.
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
"""The key of sayso's question in `inputRequests` and `inputResponses`."""

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
"""The modes of elicitation: `FORM` is a form in the client, `URL` a page that the client opens."""
MODES_SINCE: Final = "2025-11-25"
"""The first protocol version with the mode `url`."""


def modes_of(capability: object, version: str) -> frozenset[str]:
    """Return the modes that a client accepts, from its capability `elicitation`."""
    if not isinstance(capability, Mapping):
        return frozenset()
    modes = cast("Mapping[str, Any]", capability)
    named = {mode for mode, options in modes.items() if options is not None} or {FORM}
    if version < MODES_SINCE:
        return frozenset(named & {FORM})
    return frozenset(named & {FORM, URL})


async def _ignore(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Elicit:
    """Elicitation while the call waits, in the client's `modes`.

    `send` sends `elicitation/create` with the given parameters and returns the client's result.
    `complete` notifies the client that the elicitation with this id is complete.
    """

    send: Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
    modes: frozenset[str] = frozenset({FORM})
    complete: Callable[[str], Awaitable[None]] = _ignore


@dataclass(frozen=True, slots=True)
class Rounds:
    """Elicitation by multi round-trip requests, for clients of 2026-07-28.

    If a client repeats a call, `responses` are its answers, and `state` is what sayso gave it.
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
    """Return the person's answer in a client's result; `None` if the person gave none."""
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
    """Asks through the calling client while the call waits."""

    elicit: Elicit
    client: str
    name: str = "elicitation"
    strength: Strength = Strength.RELAYED

    async def offer(self, approvals: Approvals, approval: Approval) -> None:
        verdict = verdict_of(await self.elicit.send(form(approval.question)))
        if verdict is not None:
            await approvals.answer(approval.number, relayed(self.client, is_allowed=verdict))


def relayed(client: str, *, is_allowed: bool) -> Answer:
    """Return a person's answer as this client relayed it."""
    by = f"a person at {quoted(client)}"
    return Answer(is_allowed=is_allowed, by=by, channel="elicitation", strength=Strength.RELAYED)


def form(question: Question) -> dict[str, Any]:
    """Return the parameters of `elicitation/create` for a question."""
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
    """Answer a question with the client's response; if the person dismissed it, do nothing.

    Raises `SealError` if the state belongs to another question, has expired, or was used before.
    """
    bound = {"binding": approval.question.binding}
    state: dict[str, Any] = keys.open(SEALED_FOR, rounds.state or "", bound=bound)
    now = approvals.clock()
    if state["number"] != approval.number or now >= state["expires"]:
        raise SealError("the state belongs to another question, or has expired")
    if not await approvals.tokens.spend(state["use"], now=now, expires=state["expires"]):
        raise SealError("the state was already used")
    verdict = verdict_of(rounds.response or {})
    if verdict is not None:
        await approvals.answer(approval.number, relayed(client, is_allowed=verdict))
