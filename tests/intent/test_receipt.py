"""Public keys as a configuration holds them."""

import base64

import pytest

from sayso.intent import Package, ToolReceipt, fault_of_key
from sayso.intent.receipt import _WEAK  # pyright: ignore[reportPrivateUsage]

FIELD = 2**255 - 19
D = -121665 * pow(121666, -1, FIELD) % FIELD


def test_a_key_is_32_bytes_in_one_spelling() -> None:
    key = base64.b64encode(bytes(range(32))).decode()
    assert fault_of_key(key) is None
    for other in ("", key[:-1], f"{key}\n", key[:-2] + "/=", key.replace("A", "-"), "é" * 44):
        assert fault_of_key(other) == "not an Ed25519 public key (32 bytes in base64)"


@pytest.mark.parametrize("sign", [0, 1])
def test_points_of_small_order_are_no_keys(sign: int) -> None:
    for y in _WEAK:
        text = base64.b64encode((y | sign << 255).to_bytes(32, "little")).decode()
        assert fault_of_key(text) == "weak key: anyone can forge its signatures"


def test_the_weak_points_are_those_that_are_nothing_when_doubled_three_times() -> None:
    for point in _WEAK:
        y = point % FIELD
        # -x² + y² = 1 + d x² y², and doubling needs only x² and y².
        for _ in range(3):
            xx = (y * y - 1) * pow(D * y * y + 1, -1, FIELD) % FIELD
            y = (y * y + xx) * pow(2 - y * y + xx, -1, FIELD) % FIELD
        assert y == 1


def test_nobody_has_signed_what_says_nothing_of_it() -> None:
    assert not ToolReceipt("t", "f" * 64, {}).is_signed_by("key")
    assert str(Package("script", "crm", "", "a" * 64)) == "crm (sha256:aaaaaaaaaaaa…)"
