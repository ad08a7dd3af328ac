"""The evidence of a verdict in words: the effects, and the call that reproduces them."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sayso.trace import Effect, Loss
from sayso.verify.report.words import count_of
from sayso.verify.verdict import HintVerdict, ToolReport

_LOSSES: Final[Mapping[Loss, str]] = {
    Loss.OVERWROTE: "overwrote values under the same key",
    Loss.UNKNOWN: "in an unknown format",
    Loss.LOST: "the content is lost",
}


def reproduction(tool: ToolReport, verdict: HintVerdict) -> Mapping[str, Any] | None:
    """Return the parameters of the `tools/call` that reproduces a verdict, if known."""
    arguments = verdict.arguments
    if arguments is None:
        numbers = {effect.call for effect in verdict.evidence if effect.call}
        calls = (call.case.arguments for call in tool.made if call.number in numbers)
        arguments = next(calls, None)
    if arguments is None:
        return None
    return {"name": tool.name, "arguments": dict(arguments)}


def notes_on(effect: Effect) -> list[str]:
    """Describe an effect in short clauses, without its kind and target."""
    notes = [effect.detail]
    if effect.is_failed:
        notes.append("the attempt failed")
    notes.append(_LOSSES.get(effect.loss, ""))
    if effect.recoverable:
        notes.append(f"recoverable: {effect.recoverable}")
    notes.append(effect.reason)
    return [note for note in notes if note]


def whence(effect: Effect) -> str:
    """Describe the owner, observer and call of an effect.

    >>> from sayso.trace.effect import Kind, Life, Observer
    >>> whence(Effect(Kind.WRITE, "/world/a", Observer.FILES, call=3, life=Life.USER))
    'user, seen by files, call 3'
    """
    call = f"call {effect.call}" if effect.call else "without a call"
    life = "not graded" if effect.life is None else str(effect.life)
    return f"{life}, seen by {effect.observer}, {call}"


def basis(verdict: HintVerdict) -> str:
    """Describe the basis of a verdict: its calls, inputs and observers."""
    parts = [count_of(verdict.calls, "call")]
    if verdict.inputs:
        parts.append(f"inputs {', '.join(verdict.inputs)}")
    if verdict.observers:
        parts.append(f"seen by {', '.join(verdict.observers)}")
    return "; ".join(parts)


def in_line(value: Any) -> str:
    """Write a JSON value in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)
