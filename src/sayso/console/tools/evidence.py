"""The evidence for each hint of a tool, by source, and the value that counts."""

from dataclasses import dataclass
from typing import Final

from sayso.catalog import Tool
from sayso.console.words import HINTS, SOURCES
from sayso.intent import HINT_NAMES, LOOSER, Guess, HintName, Resolved, Source, Trust
from sayso.policy import Policy, weigh

_VERDICTS: Final = {
    "refuted": "no: refuted",
    "supported": "yes: supported",
    "not_exercised": "not tried",
}
_NOTHING_SAID: Final = "No source decides, so the specification’s default counts."


@dataclass(frozen=True, slots=True)
class HintEvidence:
    """A hint's value by source, in words, and the value that counts."""

    name: str
    declared: str
    inferred: str
    reason: str
    verified: str
    proof: str
    operator: str
    answer: str
    meaning: str
    source: str
    why: str


def evidence_rows(tool: Tool, policy: Policy) -> list[HintEvidence]:
    """Return a row for each hint of a tool resolved under `policy`."""
    return [_row(name, tool, policy) for name in HINT_NAMES]


def _row(name: HintName, tool: Tool, policy: Policy) -> HintEvidence:
    evidence = tool.evidence
    resolved = tool.resolved[name]
    words = HINTS[name]
    inferred = "nothing"
    reason = ""
    if guess := evidence.inferred.get(name):
        inferred = f"{_word(guess.value)} ({guess.confidence:.2f})"
        reason = "; ".join(guess.reasons)
    verdict = policy.verdicts(tool.receipts).get(name) or evidence.verdicts.get(name)
    operator = policy.operator_hints(tool.server, tool.name)[name]
    return HintEvidence(
        name=words.name,
        declared=_word(evidence.declared[name], "not declared"),
        inferred=inferred,
        reason=reason,
        verified=_VERDICTS.get(verdict or "", "not verified"),
        proof=_proof(name, tool, policy),
        operator=_word(operator, "not set"),
        answer=_word(resolved.value),
        meaning=words.yes if resolved.value else words.no,
        source=SOURCES[resolved.source],
        why=_why(name, tool, policy),
    )


def _proof(name: HintName, tool: Tool, policy: Policy) -> str:
    weighed = [*weigh(policy.receipt_keys, tool.receipts, name)]
    if tool.receipts and not weighed:
        return "The policy does not trust the key of the tool’s receipt."
    lines: list[str] = []
    for proof in weighed:
        line = f"{proof.found.calls} calls, receipt {proof.receipt.where}, key {proof.key.name}"
        if proof.doubt:
            line += f"; not counted: {proof.doubt}"
        lines.append(line)
    return "; ".join(lines)


def _word(value: bool | None, unset: str = "") -> str:  # noqa: FBT001 - the boolean is a hint's value
    return {True: "yes", False: "no", None: unset}[value]


def _why(name: HintName, tool: Tool, policy: Policy) -> str:
    resolved = tool.resolved[name]
    if tool.before is not None and _is_held_back(name, tool, policy):
        return (
            "The server changed this. The stricter value counts until a person accepts the change."
        )
    if name in ("destructive", "idempotent") and tool.resolved.read_only.value:
        return "The tool only reads, so this hint has no effect."
    if resolved.source is Source.OPERATOR:
        return "The policy sets this hint, which is final."
    if resolved.source is Source.VERIFIED:
        return _why_verified(name, resolved)
    if resolved.source is Source.DECLARED:
        return _why_declared(name, tool, policy)
    guess = tool.inferred.get(name)
    if resolved.source is Source.INFERRED:
        return _why_inferred(name, resolved, policy)
    return _why_default(name, tool, guess, policy)


def _is_held_back(name: HintName, tool: Tool, policy: Policy) -> bool:
    now = policy.resolve(tool.server, tool.name, tool.evidence, receipts=tool.receipts)[name]
    return now.value is not tool.resolved[name].value


def _why_verified(name: HintName, resolved: Resolved) -> str:
    if resolved.value is LOOSER[name]:
        return "A signed receipt supports it."
    return "A signed receipt refutes the looser value."


def _why_declared(name: HintName, tool: Tool, policy: Policy) -> str:
    declared = tool.intent.hints
    if name == "read_only" and declared.destructive and declared.read_only is not False:
        return "The server declares it destructive, so it does not only read."
    if tool.resolved[name].value is not LOOSER[name]:
        return "A stricter value always counts."
    if policy.trust_of(tool.server) is Trust.TRUSTED:
        return "The policy trusts this server."
    return "The server declares it, and nothing contradicts it."


def _why_inferred(name: HintName, resolved: Resolved, policy: Policy) -> str:
    if resolved.value is LOOSER[name]:
        sure = f"at least {policy.threshold:.2f}"
        return f"The server declares nothing, and the inference is confident enough ({sure})."
    return "The tool’s own text contradicts the looser value."


def _why_default(name: HintName, tool: Tool, guess: Guess | None, policy: Policy) -> str:
    is_untrusted = policy.trust_of(tool.server) is Trust.UNTRUSTED
    if tool.intent.hints[name] is LOOSER[name] and is_untrusted:
        return "The policy does not trust this server’s looser value."
    if guess is not None and guess.value is LOOSER[name] and not is_untrusted:
        sure = f"{policy.threshold:.2f}"
        return f"The inference is not confident enough (below {sure}), so the default counts."
    return _NOTHING_SAID
