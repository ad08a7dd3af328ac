"""Resolution: the operator's value, then the stricter from anyone, then the looser from few."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.intent.strategies import CONFIDENCES, EVIDENCE, GUESSES, HINTS, NAMES

from sayso.intent import (
    DEFAULTS,
    DOUBT,
    HINT_NAMES,
    LOOSER,
    THRESHOLD,
    Evidence,
    Guess,
    HintName,
    Hints,
    Level,
    Resolved,
    ResolvedIntent,
    Source,
    Trust,
    Verdict,
    resolve,
    stricter,
)

TRUSTS = [Trust.UNTRUSTED, Trust.CAUTIOUS, Trust.TRUSTED]
LEVELS = [Level.READ, Level.WRITE, Level.DESTRUCTIVE]

EVERY_NAME = pytest.mark.parametrize("name", HINT_NAMES)
EVERY_TRUST = pytest.mark.parametrize("trust", TRUSTS)


def is_at_least_as_strict(one: ResolvedIntent, other: ResolvedIntent) -> bool:
    """Return whether `one` permits nothing that `other` forbids, by hint and by level."""
    hints = all(
        one[name].value is DEFAULTS[name] or other[name].value is LOOSER[name]
        for name in HINT_NAMES
    )
    return hints and LEVELS.index(one.level) >= LEVELS.index(other.level)


class Said(NamedTuple):
    """The evidence about one hint: `loose`, `strict` or nothing from each source."""

    declared: str = ""
    guess: str = ""
    confidence: float = 0.0
    verdict: Verdict | None = None
    operator: str = ""

    def evidence(self, name: HintName) -> Evidence:
        values = {"loose": LOOSER[name], "strict": DEFAULTS[name], "": None}
        guessed = values[self.guess]
        return Evidence(
            declared=Hints(**{name: values[self.declared]}),
            inferred={} if guessed is None else {name: Guess(guessed, self.confidence)},
            verdicts={} if self.verdict is None else {name: self.verdict},
            operator=Hints(**{name: values[self.operator]}),
        )


# What comes of it for a server that is untrusted, cautious, trusted.
TABLE: list[tuple[Said, tuple[str, ...]]] = [
    # No evidence.
    (Said(), ("strict default",) * 3),
    # The server alone.
    (Said("strict"), ("strict declared",) * 3),
    (Said("loose"), ("strict default", "loose declared", "loose declared")),
    # The inference alone.
    (Said(guess="strict", confidence=0.9), ("strict inferred",) * 3),
    (Said(guess="strict", confidence=0.89), ("strict default",) * 3),
    (
        Said(guess="loose", confidence=0.98),
        ("strict default", "loose inferred", "loose inferred"),
    ),
    (Said(guess="loose", confidence=0.979), ("strict default",) * 3),
    # The server and the inference.
    (
        Said("loose", "strict", 0.9),
        ("strict inferred", "strict inferred", "loose declared"),
    ),
    (
        Said("loose", "strict", 0.89),
        ("strict default", "loose declared", "loose declared"),
    ),
    (Said("loose", "loose", 1.0), ("strict default", "loose declared", "loose declared")),
    (Said("strict", "loose", 1.0), ("strict declared",) * 3),
    (Said("strict", "strict", 1.0), ("strict declared",) * 3),
    # A receipt.
    (Said(verdict="supported"), ("loose verified",) * 3),
    (Said("loose", verdict="supported"), ("loose verified",) * 3),
    (Said("loose", "strict", 1.0, "supported"), ("loose verified",) * 3),
    (Said("strict", verdict="supported"), ("strict declared",) * 3),
    (Said(verdict="refuted"), ("strict verified",) * 3),
    (Said("loose", verdict="refuted"), ("strict verified",) * 3),
    (Said("loose", "loose", 1.0, "refuted"), ("strict verified",) * 3),
    (Said("strict", verdict="refuted"), ("strict verified",) * 3),
    (Said(verdict="not_exercised"), ("strict default",) * 3),
    (
        Said("loose", verdict="not_exercised"),
        ("strict default", "loose declared", "loose declared"),
    ),
    # The operator.
    (Said(operator="loose"), ("loose operator",) * 3),
    (Said("strict", "strict", 1.0, "refuted", "loose"), ("loose operator",) * 3),
    (Said(operator="strict"), ("strict operator",) * 3),
    (Said("loose", "loose", 1.0, "supported", "strict"), ("strict operator",) * 3),
]


@EVERY_NAME
@pytest.mark.parametrize(("said", "expected"), TABLE, ids=[str(said) for said, _ in TABLE])
def test_the_table_of_who_counts_holds_for_each_hint(
    said: Said, expected: tuple[str, ...], name: HintName
) -> None:
    found = [resolve(said.evidence(name), trust)[name] for trust in TRUSTS]

    assert [
        f"{'loose' if one.value is LOOSER[name] else 'strict'} {one.source}" for one in found
    ] == list(expected)


def test_the_thresholds_are_those_of_the_design() -> None:
    assert (THRESHOLD, DOUBT) == (0.98, 0.9)


def test_an_operator_may_ask_for_surer_or_less_sure_inferences() -> None:
    evidence = Evidence(inferred={"open_world": Guess(value=False, confidence=0.7)})

    assert resolve(evidence).open_world.source is Source.DEFAULT
    assert resolve(evidence, threshold=0.7).open_world == Resolved(
        value=False, source=Source.INFERRED
    )
    assert resolve(evidence, threshold=0.71).open_world.source is Source.DEFAULT
    assert resolve(evidence, Trust.UNTRUSTED, threshold=0.0).open_world.source is Source.DEFAULT


def test_a_server_is_met_with_caution_where_nothing_is_said_about_trust() -> None:
    told = Hints(read_only=True)
    doubted: dict[HintName, Guess] = {"read_only": Guess(value=False, confidence=0.95)}

    assert resolve(Evidence(told)).level is Level.READ
    assert resolve(Evidence(told, doubted)).level is Level.DESTRUCTIVE


@given(EVIDENCE)
def test_trust_only_ever_loosens(evidence: Evidence) -> None:
    untrusted, cautious, trusted = (resolve(evidence, trust) for trust in TRUSTS)

    assert is_at_least_as_strict(untrusted, cautious)
    assert is_at_least_as_strict(cautious, trusted)


@given(HINTS, GUESSES)
def test_without_receipt_or_operator_an_untrusted_tool_keeps_the_defaults(
    declared: Hints, inferred: dict[HintName, Guess]
) -> None:
    resolved = resolve(Evidence(declared, inferred), Trust.UNTRUSTED)

    assert resolved.hints == Hints(**DEFAULTS)
    assert resolved.level is Level.DESTRUCTIVE


Voice = Callable[[Evidence, HintName], Evidence]

STRICTER_VOICES: dict[str, Voice] = {
    "server": lambda evidence, name: replace(
        evidence, declared=replace(evidence.declared, **{name: DEFAULTS[name]})
    ),
    "inference": lambda evidence, name: replace(
        evidence, inferred={**evidence.inferred, name: Guess(DEFAULTS[name], 1.0)}
    ),
    "receipt": lambda evidence, name: replace(
        evidence, verdicts={**evidence.verdicts, name: "refuted"}
    ),
    "operator": lambda evidence, name: replace(
        evidence, operator=replace(evidence.operator, **{name: DEFAULTS[name]})
    ),
}


@EVERY_TRUST
@pytest.mark.parametrize("voice", STRICTER_VOICES)
@given(evidence=EVIDENCE, name=NAMES)
def test_a_stricter_voice_never_loosens(
    voice: str, trust: Trust, evidence: Evidence, name: HintName
) -> None:
    before = resolve(evidence, trust)
    after = resolve(STRICTER_VOICES[voice](evidence, name), trust)

    assert is_at_least_as_strict(after, before)


@EVERY_TRUST
@given(evidence=EVIDENCE)
def test_a_read_only_tool_destroys_nothing_and_may_be_repeated_by_the_same_word(
    trust: Trust, evidence: Evidence
) -> None:
    resolved = resolve(evidence, trust)

    if resolved.read_only.value:
        source = resolved.read_only.source
        assert resolved.destructive == Resolved(value=False, source=source)
        assert resolved.idempotent == Resolved(value=True, source=source)
        assert resolved.level is Level.READ


@EVERY_TRUST
@given(evidence=EVIDENCE)
def test_the_operators_word_is_final_either_way(trust: Trust, evidence: Evidence) -> None:
    resolved = resolve(evidence, trust)
    for name in HINT_NAMES:
        word = evidence.operator[name]
        # The write hints mean nothing on a read-only tool, and what destroys is not one.
        is_void = name in ("destructive", "idempotent") and resolved.read_only.value
        is_at_odds = name == "read_only" and evidence.operator.destructive is True
        if word is not None and not is_void and not is_at_odds:
            assert resolved[name] == Resolved(word, Source.OPERATOR)


@EVERY_TRUST
@given(evidence=EVIDENCE, read_only=st.sampled_from([True, None]))
def test_an_operator_who_says_that_a_tool_destroys_is_never_talked_out_of_it(
    trust: Trust, evidence: Evidence, *, read_only: bool | None
) -> None:
    operator = replace(evidence.operator, read_only=read_only, destructive=True)
    resolved = resolve(replace(evidence, operator=operator), trust)

    assert resolved.read_only == Resolved(value=False, source=Source.OPERATOR)
    assert resolved.destructive == Resolved(value=True, source=Source.OPERATOR)
    assert resolved.level is Level.DESTRUCTIVE


@EVERY_TRUST
@given(evidence=EVIDENCE, name=NAMES)
def test_a_refuted_hint_is_strict_whatever_is_declared_and_guessed(
    trust: Trust, evidence: Evidence, name: HintName
) -> None:
    verdicts: dict[HintName, Verdict] = {**evidence.verdicts, name: "refuted"}
    seen = replace(evidence, verdicts=verdicts, operator=Hints())
    resolved = resolve(seen, trust)

    is_void = name == "idempotent" and resolved.read_only.value
    assert is_void or resolved[name] == Resolved(DEFAULTS[name], Source.VERIFIED)


@EVERY_TRUST
@given(evidence=EVIDENCE, name=NAMES)
def test_a_stricter_declaration_beats_a_receipt_that_supports(
    trust: Trust, evidence: Evidence, name: HintName
) -> None:
    said = replace(evidence.declared, **{name: DEFAULTS[name]})
    supported: dict[HintName, Verdict] = dict.fromkeys(HINT_NAMES, "supported")
    resolved = resolve(
        replace(evidence, declared=said, verdicts=supported, operator=Hints()), trust
    )

    # Of a read-only tool the write hints mean nothing; a trusted server is read that way as well.
    is_read = resolved.read_only.value and (name == "idempotent" or said.read_only is True)
    is_void = is_read and name in ("destructive", "idempotent")
    assert is_void or resolved[name] == Resolved(DEFAULTS[name], Source.DECLARED)


@pytest.mark.parametrize(
    ("trust", "level"),
    [
        (Trust.UNTRUSTED, Level.DESTRUCTIVE),
        (Trust.CAUTIOUS, Level.DESTRUCTIVE),
        (Trust.TRUSTED, Level.READ),
    ],
)
def test_read_only_and_destructive_counts_as_destructive_except_from_a_trusted_server(
    trust: Trust, level: Level
) -> None:
    both = Hints(read_only=True, destructive=True)

    assert resolve(Evidence(both), trust).level is level


@EVERY_TRUST
def test_a_tool_declared_destructive_is_not_guessed_to_be_read_only(trust: Trust) -> None:
    sure: dict[HintName, Guess] = {"read_only": Guess(value=True, confidence=1.0)}
    resolved = resolve(Evidence(Hints(destructive=True), sure), trust)

    assert resolved.read_only == Resolved(value=False, source=Source.DECLARED)
    assert resolved.destructive == Resolved(value=True, source=Source.DECLARED)


@EVERY_TRUST
def test_a_tool_seen_to_destroy_is_not_read_only_by_its_word(trust: Trust) -> None:
    evidence = Evidence(Hints(read_only=True), verdicts={"destructive": "refuted"})
    resolved = resolve(evidence, trust)

    assert resolved.read_only == Resolved(value=False, source=Source.VERIFIED)
    assert resolved.level is Level.DESTRUCTIVE


@given(CONFIDENCES)
def test_a_tool_that_surely_destroys_by_its_text_is_not_read_only_by_its_word(
    confidence: float,
) -> None:
    destroys: dict[HintName, Guess] = {"destructive": Guess(value=True, confidence=confidence)}
    evidence = Evidence(Hints(read_only=True), destroys)

    assert resolve(evidence, Trust.TRUSTED).level is Level.READ
    is_sure = confidence >= DOUBT
    assert resolve(evidence).level is (Level.DESTRUCTIVE if is_sure else Level.READ)
    if is_sure:
        assert resolve(evidence).read_only.source is Source.INFERRED


def test_a_tool_guessed_not_to_destroy_may_still_be_read_only() -> None:
    spared: dict[HintName, Guess] = {"destructive": Guess(value=False, confidence=1.0)}

    assert resolve(Evidence(Hints(read_only=True), spared)).level is Level.READ


@EVERY_TRUST
@given(evidence=EVIDENCE)
def test_resolving_gives_the_same_twice_and_leaves_the_evidence_alone(
    trust: Trust, evidence: Evidence
) -> None:
    before = deepcopy(evidence)

    assert resolve(evidence, trust) == resolve(evidence, trust)
    assert evidence == before


def test_the_words_for_trust_are_those_of_the_design() -> None:
    assert [str(trust) for trust in Trust] == ["untrusted", "cautious", "trusted"]


def test_sources_are_ordered_from_the_weakest() -> None:
    assert [str(source) for source in Source] == [
        "default",
        "inferred",
        "declared",
        "verified",
        "operator",
    ]


def test_a_resolved_intent_as_data_gives_each_value_with_its_source() -> None:
    evidence = Evidence(
        Hints(read_only=False, open_world=False),
        {"destructive": Guess(value=True, confidence=0.95)},
        {"idempotent": "supported"},
    )

    assert resolve(evidence).to_dict() == {
        "read_only": {"value": False, "source": "declared"},
        "destructive": {"value": True, "source": "inferred"},
        "idempotent": {"value": True, "source": "verified"},
        "open_world": {"value": False, "source": "declared"},
    }


@pytest.mark.parametrize("trust", ["trusted", "TRUSTED", None, True])
def test_a_trust_level_that_is_none_counts_as_untrusted(trust: object) -> None:
    said = Evidence(declared=Hints(read_only=True))

    assert resolve(said, trust) == resolve(said, Trust.UNTRUSTED)  # pyright: ignore[reportArgumentType] - that is the mistake


@given(EVIDENCE, EVIDENCE)
def test_the_stricter_of_two_permits_only_what_both_permit(one: Evidence, other: Evidence) -> None:
    first, second = resolve(one, Trust.TRUSTED), resolve(other, Trust.TRUSTED)
    both = stricter(first, second)

    for name in HINT_NAMES:
        is_loose = {first[name].value, second[name].value} == {LOOSER[name]}
        assert (both[name].value is LOOSER[name]) is is_loose
        assert both[name] in (first[name], second[name])
