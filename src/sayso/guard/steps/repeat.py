"""The step `repeat`: answer a repeated idempotency key with the first answer; run nothing again."""

import hmac
import json
import logging
from typing import Final

import anyio

from sayso.audit import Outcome
from sayso.errors import StoreError
from sayso.guard.call import META_KEY, META_OUTCOME, Answer, Call, tool_error
from sayso.guard.context import GuardContext, Then, WrappingStep
from sayso.guard.passthrough import opened
from sayso.policy import Effect
from sayso.schema import digest
from sayso.store import Claim

_log: Final = logging.getLogger(__name__)

_KEPT_SECONDS: Final = 86_400.0
_MAX_KEY_CHARACTERS: Final = 256


async def answer_once(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Continue if this call is the first with its key; otherwise wait for the first call's answer.

    A key belongs to its caller and is stored for a day. A call that was never sent releases its
    key. A cancelled call that was sent keeps its key, because its outcome is unknown.
    """
    key = (call.meta or {}).get(META_KEY)
    if not isinstance(key, str) or not 0 < len(key) <= _MAX_KEY_CHARACTERS or not key.isprintable():
        call.outcome = Outcome.BAD_ARGUMENTS
        return tool_error(
            f"Nothing was run: {META_KEY} must be a text of 1 to 256 printable characters."
        )
    claim = _claim(guard, call, key)
    first = await guard.claims.take(claim, now=guard.clock())
    if first.call == call.id:
        call.claim = claim.key
        return await _first(guard, call, claim, then)
    if not hmac.compare_digest(first.request, claim.request):
        call.outcome = Outcome.BAD_ARGUMENTS
        return tool_error("Nothing was run: this key was used for another call.")
    return await _answer_of(guard, call, first)


def _claim(guard: GuardContext, call: Call, key: str) -> Claim:
    tool = call.tool
    caller = call.principal
    return Claim(
        key=digest([caller.account, caller.client, tool.origin, tool.server, key]),
        subject=caller.account,
        request=digest([tool.name, call.arguments_digest]),
        call=call.id,
        writer=guard.audit.writer,
        expires=guard.clock() + _KEPT_SECONDS,
    )


async def _first(guard: GuardContext, call: Call, claim: Claim, then: Then) -> Answer:
    try:
        answer = await then(call)
    finally:
        if not call.is_sent:
            await _settle(guard, call, claim, None)
    if call.is_sent and call.outcome is not Outcome.OUTCOME_UNKNOWN:
        await _settle(guard, call, claim, answer)
    return answer


async def _settle(guard: GuardContext, call: Call, claim: Claim, answer: Answer | None) -> None:
    """Store the answer, or release the key if `answer` is `None`; an error is only logged."""
    text = None
    if answer is not None:
        text = guard.approvals.signer.sign_result(claim, json.dumps(opened(answer)))
    with anyio.CancelScope(shield=True):
        try:
            await guard.claims.settle(claim.key, call.id, text)
        except StoreError:
            # The caller still gets its answer; later calls with this key get `outcome_unknown`.
            _log.exception("the answer of call %s could not be stored for its key", call.id)
        guard.repeats.wake((claim.key, call.id))


async def _answer_of(guard: GuardContext, call: Call, first: Claim) -> Answer:
    """Wait for the first call's answer and return it; do not send this call."""
    call.outcome = Outcome.REPEATED
    turn = call.request.turn
    if turn is not None:
        # This call runs nothing, and the first call may be waiting for this turn to pass.
        turn.leave()
    signer = guard.approvals.signer
    if (text := signer.read_result(first)) is not None:
        return json.loads(text)
    has_ended = False
    patience = guard.repeat_patience
    if patience is None:
        patience = guard.patience_of(call)
    with anyio.move_on_after(patience):
        while True:
            claim = await guard.claims.find(first.key)
            if claim is None or claim.call != first.call:
                return tool_error(
                    "Nothing was run: the first call with this key did not run either. "
                    "Make the call again."
                )
            if (text := signer.read_result(claim)) is not None:
                answer: Answer = json.loads(text)
                return answer
            if has_ended:
                break
            # The answer is stored before the outcome is recorded, so read it once more after that.
            has_ended = await _has_ended(guard, first.call)
            if not has_ended:
                await guard.repeats.wait((first.key, first.call))
    text = (
        "The first call with this key has no known answer: it may have run or not. It was not "
        "sent again. Look at what it would have changed before doing anything else."
    )
    return tool_error(text, **{META_OUTCOME: str(Outcome.OUTCOME_UNKNOWN)})


async def _has_ended(guard: GuardContext, call: str) -> bool:
    rows = await guard.audit.newest(call=call, limit=1)
    return bool(rows) and rows[0].event == "outcome"


def _has_key(call: Call) -> bool:
    if call.meta is None or call.meta.get(META_KEY) is None:
        return False
    return call.decision.effect is not Effect.DENY


REPEAT: Final = WrappingStep("repeat", _has_key, answer_once)
