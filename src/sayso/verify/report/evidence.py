"""What stands behind a verdict, in words: the effects, and the call that shows them again."""

import json
from collections.abc import Mapping
from typing import Any, Final

from sayso.trace import Effect, Loss
from sayso.verify.report.words import count_of
from sayso.verify.verdict import HintVerdict, ToolReport

_LOSSES: Final[Mapping[Loss, str]] = {
    Loss.OVERWROTE: "overwrote values under the same key",
    Loss.UNKNOWN: "in a format that nobody here reads",
    Loss.LOST: "what was there is lost",
}


def again(tool: ToolReport, found: HintVerdict) -> Mapping[str, Any] | None:
    """Return the parameters of the `tools/call` that shows a verdict again, if any are known."""
    arguments = found.arguments
    if arguments is None:
        numbers = {effect.call for effect in found.evidence if effect.call}
        calls = (call.case.arguments for call in tool.made if call.number in numbers)
        arguments = next(calls, None)
    if arguments is None:
        return None
    return {"name": tool.name, "arguments": dict(arguments)}


def notes_on(effect: Effect) -> list[str]:
    """Describe an effect beyond its kind and target, in short clauses."""
    notes = [effect.detail]
    if effect.is_failed:
        notes.append("the attempt failed")
    notes.append(_LOSSES.get(effect.loss, ""))
    if effect.recoverable:
        notes.append(f"can be had back: {effect.recoverable}")
    notes.append(effect.reason)
    return [note for note in notes if note]


def whence(effect: Effect) -> str:
    """Tell whose an effect is, who saw it, and in which call.

    >>> from sayso.trace.effect import Kind, Life, Observer
    >>> whence(Effect(Kind.WRITE, "/world/a", Observer.FILES, call=3, life=Life.USER))
    'user, seen by files, call 3'
    """
    call = f"call {effect.call}" if effect.call else "without a call"
    life = "not graded" if effect.life is None else str(effect.life)
    return f"{life}, seen by {effect.observer}, {call}"


def behind(found: HintVerdict) -> str:
    """Tell how much stands behind a verdict: calls, inputs, observers."""
    told = [count_of(found.calls, "call")]
    if found.inputs:
        told.append(f"inputs {', '.join(found.inputs)}")
    if found.observers:
        told.append(f"seen by {', '.join(found.observers)}")
    return "; ".join(told)


def in_line(value: Any) -> str:
    """Write a JSON value in one line, to be read; what a terminal must not get is still in it."""
    return json.dumps(value, ensure_ascii=False, default=str)
