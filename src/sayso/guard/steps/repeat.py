"""Repeat: a call with a key that was used gets the first answer, and does not run again."""

import hmac
import json
import logging
from typing import Final

import anyio

from sayso.audit import Outcome
from sayso.errors import StoreError
from sayso.guard.call import META_KEY, META_OUTCOME, Answer, Call, tool_error
from sayso.guard.context import GuardContext, Then
from sayso.guard.passthrough import opened
from sayso.guard.step import WrappingStep
from sayso.policy import Effect
from sayso.schema import digest
from sayso.store import Claim

_log: Final = logging.getLogger(__name__)

_KEPT_SECONDS: Final = 86_400.0
_LONGEST_KEY: Final = 256


async def answer_once(guard: GuardContext, call: Call, then: Then) -> Answer:
    """Go on if this call is the first with its key; else wait for the first one's answer.

    A key is its caller's own, and is remembered for a day. A call that was never sent gives its
    key back. Cancelled, a call that was sent keeps it: nobody knows how it ended.
    """
    key = (call.meta or {}).get(META_KEY)
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
        call.outcome = Outcome.BAD_ARGUMENTS
        return tool_error(
            f"Nothing was run: {META_KEY} is a text of 1 to 256 printable characters."
        )
    wanted = _claim(guard, call, key)
    found = await guard.claims.take(wanted, now=guard.clock())
    if found.call == call.id:
        call.claim = wanted.key
        return await _first(guard, call, wanted, then)
    if not hmac.compare_digest(found.request, wanted.request):
        call.outcome = Outcome.BAD_ARGUMENTS
        return tool_error("Nothing was run: this key was used for another call.")
    return await _answer_of(guard, call, found)


def _claim(guard: GuardContext, call: Call, key: str) -> Claim:
    tool = call.tool
    caller = call.principal
    mine = [caller.account, caller.client, tool.origin, tool.server, key]
    return Claim(
        key=digest(mine),
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
    """Keep the answer for later, or give the key back; how the call ended stands either way."""
    text = None
    if answer is not None:
        text = guard.approvals.signer.sign_result(claim, json.dumps(opened(answer)))
    with anyio.CancelScope(shield=True):
        try:
            await guard.claims.settle(claim.key, call.id, text)
        except StoreError:
            # Its caller must learn how it ended; with this key it is unknown from now on.
            _log.exception("what became of call %s could not be kept for its key", call.id)
        guard.repeats.wake((claim.key, call.id))


async def _answer_of(guard: GuardContext, call: Call, first: Claim) -> Answer:
    """Return the first call's answer, once there is one; send nothing in any case."""
    call.outcome = Outcome.REPEATED
    turn = call.request.turn
    if turn is not None:
        # It runs nothing; and the first one may be about to take its own turn again.
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
            found = await guard.claims.find(first.key)
            if found is None or found.call != first.call:
                return tool_error(
                    "Nothing was run: the first call with this key came to nothing. "
                    "It may be made again."
                )
            if (text := signer.read_result(found)) is not None:
                answer: Answer = json.loads(text)
                return answer
            if has_ended:
                break
            # An answer is kept before the end is written: after the end there is one more look.
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
