"""The chain: whatever is done to a record behind sayso's back is found and named."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiers import examples

from sayso.audit import Chain
from sayso.audit.chain import FIRST, link_mac
from sayso.audit.record import make_row
from sayso.audit.verifier import Report, Verifier
from sayso.errors import KeysError, StoreError
from sayso.keys import Keyring
from sayso.schema import canonical
from sayso.store import Head, RecordRow

KEYS = Keyring.of([b"k" * 32])
SIZE = 8


def chained(count: int = SIZE, keys: Keyring = KEYS) -> list[RecordRow]:
    """A log of one chain, as a store would give it back."""
    chain = Chain.begin(keys)
    rows = [make_row("", 0.5, "opened", {"heads": {}})]  # pyright: ignore[reportArgumentType]
    for at in range(1, count):
        payload = {"subject": f"amy{at % 2}", "arguments": {"n": at}}
        rows.append(make_row(f"c{at}", at + 0.25, "attempt", {"level": "write"}, payload))  # pyright: ignore[reportArgumentType]
    sealed = chain.seal(rows)
    return [replace(one, seq=seq) for seq, one in enumerate(sealed, start=1)]


def checked(
    rows: list[RecordRow], keys: Keyring = KEYS, known: dict[str, Head] | None = None
) -> Report:
    verifier = Verifier(keys, known or {})
    for row in sorted(rows, key=lambda one: one.seq):
        verifier.feed(row)
    return verifier.finish()


def test_a_chain_that_nobody_touched_is_sound() -> None:
    rows = chained()
    report = checked(rows)
    assert report.problems == []
    assert report.first is None
    assert report.heads == [Head(rows[0].writer, SIZE, rows[-1].mac)]
    assert rows[0].previous == FIRST


def test_what_is_signed_is_canonical_json() -> None:
    row = chained(2)[1]
    odd = replace(row, body='{"é\\u0000\x7f":"\\n"}', call="\x1f\u2028😀")
    parts = [
        1,
        odd.writer,
        odd.index,
        odd.previous,
        odd.key,
        odd.call,
        repr(odd.at),
        odd.event,
        odd.body,
        odd.digest,
    ]
    import hmac

    key = KEYS.derive("audit")
    assert key is not None
    assert link_mac(key, odd) == hmac.digest(key, canonical(parts), "sha256").hex()


def test_what_sayso_0_1_wrote_still_verifies() -> None:
    """Two records as they were written, with keys of `KEYS` and spaces in their JSON."""
    chain, key = "0123456789abcdef", "e1d5d07a1904fd31"
    first_mac = "9e1bc346268893012b17eb1ee09d9949c0b0115875c4b2134d508cac5a8c858c"
    first = RecordRow("", 0.5, "opened", '{"heads": {}}', seq=1, writer=chain, index=1, key=key)
    second = RecordRow(
        "c1",
        1.25,
        "attempt",
        r'{"level": "write", "title": "Gr\u00f6\u00dfe\n\ud800"}',
        seq=2,
        payload=r'{"subject": "amy", "arguments": {"n": "\u00e9"}, "salt": "5a175a175a175a17"}',
        subject="amy",
        writer=chain,
        index=2,
        previous=first_mac,
        key=key,
        digest="e9b9a2355c3381c214e7f548d00b8199a590e0262fce2fd56b6662429b732d3d",
        mac="76bfa1c1156999e353b03531d74beece8e112747af906ff3fb3c80a142a9e230",
    )
    assert checked([replace(first, previous=FIRST, mac=first_mac), second]).problems == []


def change(**fields: object) -> Callable[[list[RecordRow]], list[RecordRow]]:
    def tamper(rows: list[RecordRow]) -> list[RecordRow]:
        return [*rows[:3], replace(rows[3], **fields), *rows[4:]]  # pyright: ignore[reportArgumentType]

    return tamper


def swap(rows: list[RecordRow]) -> list[RecordRow]:
    first, second = rows[3], rows[4]
    return [*rows[:3], replace(second, seq=4), replace(first, seq=5), *rows[5:]]


def insert_copy(rows: list[RecordRow]) -> list[RecordRow]:
    later = [replace(one, seq=one.seq + 1) for one in rows[3:]]
    return [*rows[:3], replace(rows[2], seq=4), *later]


def insert_stranger(rows: list[RecordRow]) -> list[RecordRow]:
    later = [replace(one, seq=one.seq + 1) for one in rows[3:]]
    stranger = RecordRow("x", 3.5, "outcome", "{}", seq=4, key=KEYS.active, writer="w", index=1)
    return [*rows[:3], replace(stranger, previous=FIRST, mac="0" * 64), *later]


def insert_unchained(rows: list[RecordRow]) -> list[RecordRow]:
    later = [replace(one, seq=one.seq + 1) for one in rows[3:]]
    return [*rows[:3], RecordRow("x", 3.5, "outcome", "{}", seq=4), *later]


def relink(rows: list[RecordRow]) -> list[RecordRow]:
    """Delete one and give the next its place: only who has the key could sign that."""
    moved = [replace(one, index=one.index - 1) for one in rows[4:]]
    return [*rows[:3], replace(moved[0], previous=rows[2].mac), *moved[1:]]


Tamper = Callable[[list[RecordRow]], list[RecordRow]]
TAMPERED: dict[str, tuple[Tamper, int, str]] = {
    "call": (change(call="c9"), 4, "its MAC does not match"),
    "time": (change(at=99.0), 4, "its MAC does not match"),
    "event": (change(event="outcome"), 4, "its MAC does not match"),
    "body": (change(body='{"level":"read"}'), 4, "its MAC does not match"),
    "mac": (change(mac="é" * 64), 4, "its MAC does not match"),
    "index": (change(index=40), 4, "records 4 to 39 are before it"),
    "previous": (change(previous="f" * 64), 4, "does not follow the record before it"),
    "key": (change(key="other"), 4, "signed with the key 'other'"),
    "writer": (change(writer="other"), 4, "MAC does not match"),
    "payload": (change(payload='{"subject":"bob"}'), 4, "its payload was changed"),
    "payload taken": (change(payload=None, subject=None), 4, "no erasure is on record"),
    "payload and digest taken": (change(payload=None, digest=""), 4, "its MAC does not match"),
    "subject": (change(subject="bob"), 4, "its subject was changed"),
    "swapped": (swap, 4, "record 4 is before it in its chain missing"),
    "deleted": (lambda rows: rows[:3] + rows[4:], 5, "record 4 is before it in its chain missing"),
    "two deleted": (lambda rows: rows[:3] + rows[5:], 6, "records 4 to 5 are before it"),
    "first deleted": (lambda rows: rows[1:], 2, "record 1 is before it in its chain missing"),
    "copied": (insert_copy, 4, "follows record 3"),
    "put in": (insert_stranger, 4, "its MAC does not match"),
    "put in unchained": (insert_unchained, 4, "not in a chain"),
    "deleted and linked": (relink, 5, "its MAC does not match"),
    "unchained": (change(writer="", mac="", index=0), 4, "not in a chain"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_tampered_with_is_named(name: str) -> None:
    tamper, seq, what = TAMPERED[name]
    first = checked(tamper(chained())).first
    assert first is not None
    assert first.seq == seq
    assert what in str(first) or what in " ".join(
        str(one) for one in checked(tamper(chained())).problems if one.seq == seq
    )


def test_a_tail_that_was_cut_off_is_found_by_a_head_kept_elsewhere() -> None:
    rows = chained()
    head = Head(rows[0].writer, SIZE, rows[-1].mac)
    assert checked(rows[:5]).problems == []
    first = checked(rows[:5], known={head.writer: head}).first
    assert first is not None
    assert (first.seq, first.index) == (None, 6)
    assert "went on to record 8" in str(first)
    gone = checked([], known={head.writer: head}).first
    assert gone is not None
    assert gone.index == 1
    assert checked(rows, known={head.writer: head}).problems == []


def test_a_log_that_was_written_anew_is_found_by_a_head_kept_elsewhere() -> None:
    rows = chained()
    first = checked(rows, known={rows[0].writer: Head(rows[0].writer, 3, "0" * 64)}).first
    assert first is not None
    assert first.seq == 3
    assert "kept elsewhere" in first.what


def test_another_key_verifies_nothing() -> None:
    first = checked(chained(), Keyring.of([b"x" * 32])).first
    assert first is not None
    assert first.seq == 1
    assert "which is missing" in first.what


def test_an_old_chain_verifies_after_a_rotation() -> None:
    assert checked(chained(), Keyring.of([b"x" * 32, b"k" * 32])).problems == []


def test_what_was_not_written_leaves_no_gap() -> None:
    chain = Chain.begin(KEYS)
    chain.seal([RecordRow("a", 1.0, "attempt", "{}")])
    chain.settle(is_written=False)
    assert chain.head is None
    (row,) = chain.seal([RecordRow("b", 1.0, "attempt", "{}")])
    chain.settle(is_written=True)
    assert chain.head == Head(chain.writer, 1, row.mac)


@pytest.mark.parametrize("is_there", [True, False])
def test_after_a_lost_commit_the_chain_goes_on_from_what_is_there(*, is_there: bool) -> None:
    chain = Chain.begin(KEYS)
    (row,) = chain.seal([RecordRow("a", 1.0, "attempt", "{}")])
    chain.settle(is_written=None)
    chain.settle(is_written=False)
    assert chain.is_in_doubt
    chain.recall(Head(chain.writer, 1, row.mac) if is_there else None)
    (after,) = chain.seal([RecordRow("b", 1.0, "attempt", "{}")])
    assert after.index == 1 + is_there
    assert not chain.is_in_doubt


def test_a_chain_that_somebody_else_went_on_with_stops() -> None:
    chain = Chain.begin(KEYS)
    with pytest.raises(StoreError, match="changed by another program"):
        chain.recall(Head(chain.writer, 7, "0" * 64))


def test_a_chain_needs_its_key() -> None:
    with pytest.raises(KeysError):
        Chain.begin(Keyring("gone", {}))


FIELDS = st.sampled_from(
    ["call", "event", "body", "payload", "subject", "writer", "previous", "key", "digest", "mac"]
)


@settings(max_examples=examples(200))
@given(st.integers(0, SIZE - 1), FIELDS, st.text(max_size=8))
def test_any_field_of_any_record_that_was_changed_is_found_there(
    at: int, field: str, text: str
) -> None:
    rows = chained()
    if getattr(rows[at], field) == text:
        return
    rows[at] = replace(rows[at], **{field: text})
    try:
        report = checked(rows)
    except json.JSONDecodeError as error:  # pragma: no cover - the message is the point
        pytest.fail(str(error))
    assert any(one.seq == at + 1 for one in report.problems)


@settings(max_examples=examples(100))
@given(st.permutations(list(range(SIZE))), st.integers(0, SIZE))
def test_any_other_order_and_any_gap_is_found(order: list[int], count: int) -> None:
    rows = chained()
    moved = [replace(rows[at], seq=seq) for seq, at in enumerate(order[:count], start=1)]
    is_sound = order[:count] == list(range(count))
    assert (checked(moved).problems == []) is is_sound
