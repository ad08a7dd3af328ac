"""Receipts that apply to a tool, and those that count under a policy."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.receipts.reports import (
    DIGEST,
    LAYERS,
    PACKAGE,
    RAW,
    hint,
    key_in,
    report,
    signed,
)

from sayso.catalog import Tool, make_tool
from sayso.intent import Level, Package, Source
from sayso.keys import SigningKey
from sayso.policy import Policy, load_policy, seen_under
from sayso.receipts import ReceiptCollection, make_statement, package_of, read_statement
from sayso.receipts.collection import DROPPED
from sayso.receipts.envelope import read_envelope
from sayso.verify.verdict import Report

OTHER = Package("pypi", "notes", "1.1", "cd" * 32)


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return key_in(tmp_path)


def shelf(key: SigningKey, *reports: Report) -> ReceiptCollection:
    found: list[Any] = []
    for one in reports or (report(),):
        value = make_statement(one.to_dict())
        envelope = read_envelope(json.dumps(signed(value, key)).encode(), "r.json")
        found.append(read_statement(value, where="r.json", is_signed_by=envelope.is_signed_by))
    return ReceiptCollection(tuple(found))


def trusting(key: SigningKey, more: str = "") -> Policy:
    return load_policy(f'[trust.receipt_keys]\nci = {{ key = "{key.public}"{more} }}\n')


def tool(raw: dict[str, Any] | None = None) -> Tool:
    return make_tool("notes", {**RAW, "name": "zorb", **(raw or {})})


def about(raw: dict[str, Any] | None = None, **more: Any) -> Report:
    return report({**RAW, "name": "zorb", **(raw or {})}, **more)


def seen(
    held: ReceiptCollection,
    policy: Policy,
    package: Package | None = PACKAGE,
    raw: dict[str, Any] | None = None,
) -> Tool:
    (given,) = held.give([tool(raw)], package)
    return seen_under(policy, given)


def test_a_receipt_of_a_trusted_key_counts_for_this_tool_of_this_package(key: SigningKey) -> None:
    found = seen(shelf(key, about()), trusting(key))
    assert found.level is Level.READ
    assert found.resolved.read_only.source is Source.VERIFIED
    assert found.findings == ()


def test_of_a_key_that_no_policy_trusts_nothing_counts(key: SigningKey, tmp_path: Path) -> None:
    held = shelf(key, about())
    for policy in (Policy(), trusting(key_in(tmp_path, "other"))):
        assert seen(held, policy).resolved.read_only.source is Source.DEFAULT


def test_a_refutation_by_a_key_that_nobody_trusts_counts_for_nothing(key: SigningKey) -> None:
    held = shelf(key, about(read_only=hint("refuted", 1)))
    said = {"annotations": {"readOnlyHint": True}}
    assert seen(held, Policy(), raw=said).level is not Level.DESTRUCTIVE


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        (", calls = 12", True),
        (", calls = 13", False),
        (', layers = ["syscalls"]', True),
        (', layers = ["postgres"]', False),
        (", layers = []", True),
    ],
)
def test_the_operator_says_how_much_must_stand_behind_it(
    key: SigningKey, more: str, *, counts: bool
) -> None:
    found = seen(shelf(key, about()), trusting(key, more))
    assert (found.resolved.read_only.source is Source.VERIFIED) is counts


def test_without_containment_nothing_is_loosened_unless_the_operator_says_so(
    key: SigningKey,
) -> None:
    held = shelf(key, about(layers=("files",)))
    assert seen(held, trusting(key)).level is Level.DESTRUCTIVE
    assert seen(held, trusting(key, ", layers = []")).level is Level.READ


def test_what_was_watched_in_part_loosens_nothing(key: SigningKey) -> None:
    held = shelf(key, about(read_only=hint("supported", 99, is_partial=True)))
    assert seen(held, trusting(key, ", layers = []")).level is Level.DESTRUCTIVE


def test_one_refuting_call_without_any_layer_is_enough(key: SigningKey) -> None:
    held = shelf(
        key,
        about({"annotations": {"readOnlyHint": True}}),
        about(
            {"annotations": {"readOnlyHint": True}},
            layers=(),
            read_only=hint("refuted", 1, is_partial=True),
        ),
    )
    found = seen(held, trusting(key), raw={"annotations": {"readOnlyHint": True}})
    assert found.resolved.read_only.source is Source.VERIFIED
    assert found.level is Level.DESTRUCTIVE


def test_what_was_not_tried_changes_nothing(key: SigningKey) -> None:
    held = shelf(key, about(read_only=hint("not_exercised", 0)))
    (given,) = held.give([tool()], PACKAGE)
    policy = trusting(key)
    assert policy.verdicts(given.receipts) == {"read_only": "not_exercised"}
    assert seen_under(policy, given).resolved == seen_under(policy, tool()).resolved


def test_the_operators_word_and_a_stricter_declaration_stand_above_it(key: SigningKey) -> None:
    policy = load_policy(
        f'[trust.receipt_keys.ci]\nkey = "{key.public}"\n[operator.notes.zorb]\nread_only = false\n'
    )
    assert seen(shelf(key, about()), policy).level is not Level.READ
    said = {"annotations": {"readOnlyHint": False}}
    assert seen(shelf(key, about(said)), trusting(key), raw=said).level is not Level.READ


def test_an_old_receipt_is_dropped_when_the_package_is_another(key: SigningKey) -> None:
    found = seen(shelf(key, about()), trusting(key), OTHER)
    assert found.receipts == ()
    assert found.level is Level.DESTRUCTIVE
    (told,) = found.findings
    assert told.code == DROPPED
    assert "is for notes 1.0 (sha256:abababababab…), but notes 1.1" in told.message


def test_a_receipt_is_dropped_when_the_tool_has_changed(key: SigningKey) -> None:
    found = seen(shelf(key, about()), trusting(key), raw={"description": "Deletes all notes."})
    assert found.receipts == ()
    assert [one.code for one in found.findings] == [DROPPED]


def test_an_old_receipt_beside_one_that_holds_is_no_news(key: SigningKey) -> None:
    held = shelf(key, about(digest=OTHER.digest, version="1.1"), about())
    assert seen(held, trusting(key)).findings == ()


def test_a_receipt_for_another_server_is_about_nobody_here(key: SigningKey) -> None:
    foreign = about().to_dict()
    foreign["package"] = {"kind": "npm", "name": "notes", "version": "1.0", "digest": "ef" * 32}
    held = ReceiptCollection((read_statement(make_statement(foreign)),))
    found = seen(held, trusting(key))
    assert (found.receipts, found.findings) == ((), ())


def test_what_runs_must_be_known(key: SigningKey) -> None:
    assert seen(shelf(key, about()), trusting(key), None).receipts == ()
    assert seen(ReceiptCollection(), trusting(key)).receipts == ()


def test_of_a_list_alone_only_what_is_refuted_counts(key: SigningKey) -> None:
    held = shelf(
        key,
        about(
            read_only=hint("refuted", 1),
            open_world=hint("supported", 50),
        ),
    )
    assert held.refuted(tool(), trusting(key)) == {"read_only": "refuted"}
    assert held.refuted(tool({"title": "Other"}), trusting(key)) == {}


def test_a_package_is_what_was_described() -> None:
    told = {"kind": "pypi", "name": "notes", "version": "1.0", "digest": DIGEST}
    assert package_of(told) == PACKAGE
    assert package_of(None) is None
    assert set(LAYERS)
