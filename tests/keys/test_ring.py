"""Keys in use: signatures and seals hold for one purpose, and outlive a rotation."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.errors import SealError
from sayso.keys import Keyring, key_id

OLD, NEW = bytes(32), bytes(range(32))


def test_a_key_has_the_same_name_everywhere_and_the_name_tells_nothing() -> None:
    assert Keyring.of([OLD]).active == key_id(OLD) != key_id(NEW)
    assert base64.b64encode(OLD).decode() not in repr(Keyring.of([OLD]))
    assert "\\x00" not in repr(Keyring.of([OLD]))


def test_what_an_old_key_signed_and_sealed_stays_good_after_a_rotation() -> None:
    before, after = Keyring.of([OLD]), Keyring.of([NEW, OLD])
    assert after.verify("a", b"x", before.sign("a", b"x"))
    assert after.open("a", before.seal("a", {"n": 1})) == {"n": 1}
    assert after.sign("a", b"x").startswith(key_id(NEW))
    assert after.ids == (key_id(NEW), key_id(OLD))


@pytest.mark.parametrize(
    ("purpose", "message", "signature"),
    [
        ("b", b"x", None),
        ("a", b"y", None),
        ("a", b"x", ""),
        ("a", b"x", "nobody:00"),
        ("a", b"x", f"{key_id(OLD)}:00"),
        ("a", b"x", f"{key_id(OLD)}:é"),
    ],
)
def test_a_signature_holds_for_its_purpose_and_message_alone(
    purpose: str, message: bytes, signature: str | None
) -> None:
    ring = Keyring.of([OLD])
    good = ring.sign("a", b"x")
    assert not ring.verify(purpose, message, good if signature is None else signature)


@pytest.mark.parametrize("forged", ["", ".", "nobody.00", f"{key_id(OLD)}.00", f"{key_id(OLD)}.zz"])
def test_what_was_not_sealed_here_does_not_open(forged: str) -> None:
    with pytest.raises(SealError, match="not sealed here"):
        Keyring.of([OLD]).open("a", forged)


def test_a_seal_opens_only_for_its_purpose_and_what_it_is_bound_to() -> None:
    ring = Keyring.of([OLD])
    sealed = ring.seal("a", [1], bound={"subject": "amy"})
    assert ring.open("a", sealed, bound={"subject": "amy"}) == [1]
    for purpose, bound in (("b", {"subject": "amy"}), ("a", {"subject": "bob"}), ("a", None)):
        with pytest.raises(SealError):
            ring.open(purpose, sealed, bound=bound)
    with pytest.raises(SealError):
        Keyring.of([NEW]).open("a", sealed, bound={"subject": "amy"})


@given(st.integers(min_value=0), st.integers(min_value=0, max_value=7))
def test_a_seal_with_one_bit_changed_does_not_open(at: int, bit: int) -> None:
    ring = Keyring.of([OLD])
    name, _, text = ring.seal("a", {"n": 1}).partition(".")
    raw = bytearray.fromhex(text)
    raw[at % len(raw)] ^= 1 << bit
    with pytest.raises(SealError):
        ring.open("a", f"{name}.{raw.hex()}")
