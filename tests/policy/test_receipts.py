"""`[trust.receipt_keys]`: whose receipts count, and every mistake with its line."""

import base64
from dataclasses import replace

import pytest

from sayso.errors import PolicyError
from sayso.intent import (
    CONTAINING,
    Evidence,
    HintName,
    HintReceipt,
    Source,
    ToolReceipt,
    Trust,
    Verdict,
)
from sayso.policy import Policy, load_policy
from sayso.policy.receipts import weigh

KEY = base64.b64encode(bytes(range(32))).decode()


def receipt(verdict: Verdict, calls: int = 0) -> ToolReceipt:
    hints: dict[HintName, HintReceipt] = {"read_only": HintReceipt(verdict, calls)}
    return ToolReceipt("t", "f", hints, frozenset(CONTAINING), "d", "r", KEY.__eq__)  # pyright: ignore[reportArgumentType]


def test_a_key_has_a_name_and_what_it_must_show() -> None:
    policy = load_policy(
        f'[trust]\ncrm = "trusted"\n[trust.receipt_keys]\n'
        f'ci = {{ key = "{KEY}", calls = 20, layers = ["root", "network"] }}\n'
        f'lab = {{ key = "{KEY}" }}\n'
    )
    ci, lab = policy.receipt_keys
    assert (ci.name, ci.key, ci.calls, ci.layers) == ("ci", KEY, 20, {"root", "network"})
    assert (lab.calls, lab.layers) == (5, CONTAINING)
    assert policy.trust == {"crm": Trust.TRUSTED}


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('receipt_keys = "x"', "must be a table"),
        ("receipt_keys = { ci = 7 }", "must be a table"),
        ("receipt_keys = { ci = {} }", "“key” is missing"),
        ('receipt_keys = { ci = { key = "x" } }', "not an Ed25519 public key"),
        (f'receipt_keys = {{ ci = {{ key = "{"A" * 43}=" }} }}', "anyone can forge"),
        (f'receipt_keys = {{ ci = {{ key = "{KEY}", calls = 0 }} }}', "at least 1"),
        (f'receipt_keys = {{ ci = {{ key = "{KEY}", layers = ["rot"] }} }}', "“rot” is not one of"),
        (f'receipt_keys = {{ ci = {{ key = "{KEY}", more = 1 }} }}', "unknown key “more”"),
        ('crm = "trustd"', "is not one of"),
    ],
)
def test_a_mistake_is_told_with_its_line(line: str, what: str) -> None:
    with pytest.raises(PolicyError) as told:
        load_policy(f'mode = "strict"\n[trust]\n{line}\n')
    assert told.value.where == "policy.toml:3"
    assert what in told.value.what


def test_a_server_table_that_is_no_table_is_told() -> None:
    with pytest.raises(PolicyError, match="must be a table"):
        load_policy("trust = 7\n")


def test_with_receipts_what_the_evidence_says_of_verdicts_does_not_count() -> None:
    known = Evidence(verdicts={"read_only": "supported"})
    assert Policy().resolve("s", "t", known).read_only.source is Source.VERIFIED
    found = Policy().resolve("s", "t", known, receipts=[receipt("supported", calls=9)])
    assert found.read_only.source is Source.DEFAULT


def test_refuted_counts_before_supported() -> None:
    policy = load_policy(f'[trust.receipt_keys]\nci = {{ key = "{KEY}" }}\n')
    held = [receipt("supported", calls=9), receipt("refuted"), receipt("not_exercised")]
    assert policy.verdicts(held[:1]) == {"read_only": "supported"}
    assert policy.verdicts(held) == {"read_only": "refuted"}
    assert policy.verdicts([receipt("supported", calls=4)]) == {}


def nobody(_key: str) -> bool:
    return False


def test_what_counts_is_signed_watched_whole_and_ran_in_the_layers_that_are_wanted() -> None:
    policy = load_policy(f'[trust.receipt_keys]\nci = {{ key = "{KEY}" }}\n')
    good = receipt("supported", calls=9)
    partial: dict[HintName, HintReceipt] = {
        "read_only": replace(good.hints["read_only"], is_partial=True)
    }
    held = [
        good,
        replace(good, hints=partial),
        replace(good, layers=frozenset[str]()),
        replace(good, is_signed_by=nobody),
    ]
    doubts = [one.doubt for one in weigh(policy.receipt_keys, held, "read_only")]
    assert doubts == [
        "",
        "a required observer was missing",
        f"the server ran without {', '.join(sorted(CONTAINING))}, which the policy requires",
    ]
    assert [policy.verdicts([one]) for one in held] == [{"read_only": "supported"}, {}, {}, {}]
