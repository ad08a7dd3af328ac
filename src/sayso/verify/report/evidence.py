"""What stands behind a verdict, in words: the effects, and the call that shows them again."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sayso.trace import Effect, Loss
from sayso.verify.report.words import count_of
from sayso.verify.verdict import HintVerdict, ToolReport

_LOSSES: Final[Mapping[Loss, str]] = {
    Loss.OVERWROTE: "overwrote values under the same key",
    Loss.UNKNOWN: "in a format that nobody here reads",
    Loss.LOST: "what was there is lost",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Effects that are told as one: how many, on which targets, why they refute nothing."""

    life: str
    kind: str
    reason: str
    count: int
    targets: tuple[str, ...]


def again(tool: ToolReport, found: HintVerdict) -> Mapping[str, Any] | None:
    """The parameters of the `tools/call` that shows a verdict again; `None` if none is known."""
    arguments = found.arguments
    if arguments is None:
        numbers = {effect.call for effect in found.evidence if effect.call}
        arguments = next(
            (call.case.arguments for call in tool.made if call.number in numbers and call.number),
            None,
        )
    return None if arguments is None else {"name": tool.name, "arguments": dict(arguments)}


def notes_on(effect: Effect) -> list[str]:
    """What is known of an effect beside its kind and target, in short clauses."""
    told = [
        effect.detail,
        "the attempt failed" if effect.is_failed else "",
        _LOSSES.get(effect.loss, ""),
        f"can be had back: {effect.recoverable}" if effect.recoverable else "",
        effect.reason,
    ]
    return [line for line in told if line]


def whence(effect: Effect) -> str:
    """Whose it is, who saw it, and in which call.

    >>> from sayso.trace.effect import Kind, Life, Observer
    >>> whence(Effect(Kind.WRITE, "/world/a", Observer.FILES, call=3, life=Life.USER))
    'user, seen by files, call 3'
    """
    call = f"call {effect.call}" if effect.call else "without a call"
    life = "not graded" if effect.life is None else str(effect.life)
    return f"{life}, seen by {effect.observer}, {call}"


def behind(found: HintVerdict) -> str:
    """How much stands behind a verdict: calls, inputs, observers."""
    told = [count_of(found.calls, "call")]
    if found.inputs:
        told.append(f"inputs {', '.join(found.inputs)}")
    if found.observers:
        told.append(f"seen by {', '.join(found.observers)}")
    return "; ".join(told)


def in_line(value: Any) -> str:
    """A JSON value in one line, to be read; what a terminal must not get is still in it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def group(effects: Iterable[Effect], *, most: int = 3) -> Sequence[Group]:
    """Effects by life, kind and reason, the most frequent first, each with its first targets."""
    counts = Counter[tuple[str, str, str]]()
    targets: dict[tuple[str, str, str], dict[str, None]] = {}
    for effect in effects:
        key = ("" if effect.life is None else str(effect.life), str(effect.kind), effect.reason)
        counts[key] += 1
        targets.setdefault(key, {})[effect.target] = None
    return [
        Group(*key, count=count, targets=tuple(targets[key])[:most])
        for key, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    ]
