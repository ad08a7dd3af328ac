"""The verdict on each hint of one tool."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sayso.intent import HINT_NAMES, HintName
from sayso.trace import Effect, Kind, Life, Loss
from sayso.verify.call import MadeCall
from sayso.verify.grade.lifetime import OUTWARD, UNCALLED
from sayso.verify.judge.refutations import (
    against_closed_world,
    against_idempotent,
    against_non_destructive,
    against_read_only,
)
from sayso.verify.judge.tool_evidence import Claim, Confirmed, Profile, ToolEvidence, claims_of
from sayso.verify.verdict import HintVerdict

NEEDED: Final[Mapping[HintName, frozenset[str]]] = {
    "read_only": frozenset({"syscalls", "files"}),
    "destructive": frozenset({"files"}),
    "idempotent": frozenset({"files"}),
    "open_world": frozenset({"syscalls"}),
}
"""The observers that must be active for a hint to be supported."""

NO_SUCCESS: Final = "no call succeeded"
_MEANINGLESS: Final = "this hint has no meaning on a read-only tool"
_STRICT: Final = "the strict value is declared; calls cannot refute it"
_SILENT: Final = "the hint is not declared, and nothing suggests a value other than the default"


def suspects(evidence: ToolEvidence) -> Mapping[HintName, MadeCall]:
    """Return, for each looser claim, the first call that contradicts it. Confirm these calls."""
    claims = claims_of(evidence.tool)
    found: dict[HintName, MadeCall] = {}
    for name in HINT_NAMES:
        if not claims[name].is_looser or _is_void(name, claims):
            continue
        for call, effects in _possible_contradictions(name, evidence):
            if effects:
                found.setdefault(name, call)
    return found


def effects_against(name: HintName, made: MadeCall, profile: Profile) -> list[Effect]:
    """Return the effects of a call that contradict a hint; for `idempotent`, of a second call."""
    finders: Mapping[HintName, Callable[[Iterable[Effect]], list[Effect]]] = {
        "read_only": against_read_only,
        "destructive": lambda effects: against_non_destructive(effects, profile),
        "idempotent": against_idempotent,
        "open_world": against_closed_world,
    }
    return finders[name](made.effects)


def judge(evidence: ToolEvidence) -> Mapping[HintName, HintVerdict]:
    """Return the verdicts on the four hints of a tool."""
    claims = claims_of(evidence.tool)
    return {name: _judge_one(claims[name], claims, evidence) for name in HINT_NAMES}


def _judge_one(
    claim: Claim, claims: Mapping[HintName, Claim], evidence: ToolEvidence
) -> HintVerdict:
    blank = HintVerdict(claim.declared, "not_exercised", "", inferred=claim.inferred)
    if _is_void(claim.name, claims):
        return replace(blank, reason=_MEANINGLESS)
    if claim.value is None:
        return replace(blank, reason=_SILENT)
    if not claim.is_looser:
        return _strict(claim, evidence, blank)
    if confirmed := evidence.confirmed.get(claim.name):
        return _refuted(claim, confirmed, evidence, blank)
    if doubt := evidence.doubts.get(claim.name):
        return replace(blank, reason=doubt)
    return _supported(claim, evidence, blank)


def _is_void(name: HintName, claims: Mapping[HintName, Claim]) -> bool:
    """Return whether a hint has no meaning because the tool is read-only (MCP, ToolAnnotations)."""
    return name in ("destructive", "idempotent") and claims["read_only"].value is True


def _possible_contradictions(
    name: HintName, evidence: ToolEvidence
) -> list[tuple[MadeCall, list[Effect]]]:
    calls = evidence.made
    if name == "idempotent":
        # If the first call failed, a change by the second call contradicts nothing.
        calls = [second for first, second in evidence.repeats() if first.is_success]
    return [(call, effects_against(name, call, evidence.profile)) for call in calls]


def _refuted(
    claim: Claim, confirmed: Confirmed, evidence: ToolEvidence, blank: HintVerdict
) -> HintVerdict:
    contradicting = [
        call for call, effects in _possible_contradictions(claim.name, evidence) if effects
    ]
    first = confirmed.evidence[0]
    if claim.declared is None:
        # The call contradicts only an inferred value, so no declared hint is refuted.
        reason = f"not declared; {_describe(first)} contradicts what the tool's text suggests"
        return replace(blank, reason=reason, evidence=confirmed.evidence)
    return replace(
        blank,
        verdict="refuted",
        reason=f"{_describe(first)}; an isolated run reproduced it",
        calls=max(1, len(contradicting)),
        inputs=_inputs(contradicting),
        observers=tuple(sorted({str(effect.observer) for effect in confirmed.evidence})),
        evidence=confirmed.evidence,
        arguments=confirmed.arguments,
    )


def _describe(effect: Effect) -> str:
    text = f"{effect.kind} {effect.target}"
    if effect.is_failed:
        text = f"tried to {text}"
    if effect.detail:
        text += f" ({effect.detail})"
    return text


def _strict(claim: Claim, evidence: ToolEvidence, blank: HintVerdict) -> HintVerdict:
    """Return the verdict on a hint with its strict value, perhaps marked as over-declared."""
    calls = _standing(claim.name, evidence)
    is_needed = any(effects for _, effects in _possible_contradictions(claim.name, evidence))
    if not calls or is_needed or claim.declared is None:
        return replace(blank, reason=_STRICT)
    reason = f"{_STRICT}; none of {_count(calls)} needed it"
    return replace(blank, reason=reason, is_over_declared=True, inputs=_inputs(calls))


def _supported(claim: Claim, evidence: ToolEvidence, blank: HintVerdict) -> HintVerdict:
    missing = sorted(NEEDED[claim.name] - evidence.observers)
    calls = _standing(claim.name, evidence)
    if not evidence.successes:
        return replace(blank, reason=evidence.uncalled or _why_none(evidence))
    if evidence.is_blind:
        return replace(blank, reason="the tool did something that the observers cannot see")
    if claim.name == "open_world" and (anyway := _reached_anyway(evidence)):
        reason = f"{anyway.kind} {anyway.target} is {UNCALLED}, so calls cannot be told apart"
        return replace(blank, reason=reason)
    if not calls:
        return replace(blank, reason=_NOTHING_TO_SEE[claim.name])
    if missing or evidence.limit:
        reason = evidence.limit or f"not watched by {' and '.join(missing)}"
        return replace(blank, reason=reason, is_partial=True, inputs=_inputs(calls))
    reason = f"nothing in {_count(calls)} contradicts the hint"
    if cleared := evidence.cleared.get(claim.name):
        reason = f"{reason}; {cleared}"
    return replace(
        blank,
        verdict="supported",
        reason=reason,
        calls=len(calls),
        inputs=_inputs(calls),
        observers=tuple(sorted(evidence.observers)),
    )


def _why_none(evidence: ToolEvidence) -> str:
    return f"{NO_SUCCESS}: {evidence.failure}" if evidence.failure else NO_SUCCESS


def _reached_anyway(evidence: ToolEvidence) -> Effect | None:
    effects = (effect for made in evidence.made for effect in made.effects)
    return next(
        (effect for effect in effects if effect.kind in OUTWARD and effect.reason == UNCALLED), None
    )


_NOTHING_TO_SEE: Final[Mapping[HintName, str]] = {
    "read_only": NO_SUCCESS,
    "destructive": "no call made a change that the observers see",
    "idempotent": "no call that changed something was repeated",
    "open_world": NO_SUCCESS,
}


def _standing(name: HintName, evidence: ToolEvidence) -> list[MadeCall]:
    if name == "idempotent":
        return [
            second
            for first, second in evidence.repeats()
            if first.is_success and second.is_success and _changed(first)
        ]
    if name == "destructive":
        return [call for call in evidence.successes if _changed(call) and not _is_unreadable(call)]
    return evidence.successes


def _changed(made: MadeCall) -> bool:
    return any(effect.life is Life.USER and not effect.is_failed for effect in made.effects)


def _is_unreadable(made: MadeCall) -> bool:
    return any(effect.loss is Loss.UNKNOWN or effect.kind is Kind.BLIND for effect in made.effects)


def _inputs(calls: Sequence[MadeCall]) -> tuple[str, ...]:
    return tuple(sorted({label for made in calls for label in made.case.classes}))


def _count(calls: Sequence[MadeCall]) -> str:
    return "1 call" if len(calls) == 1 else f"{len(calls)} calls"
