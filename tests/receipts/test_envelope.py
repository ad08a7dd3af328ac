"""The envelope: what is signed, and all that must not pass for a signature."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.receipts.reports import key_in, resigned, signed, statement

from sayso.errors import ReceiptError
from sayso.receipts import read_envelope
from sayso.receipts.envelope import PAYLOAD_TYPE, encode, key_id

Envelope = dict[str, Any]


def read(envelope: Any) -> Any:
    return read_envelope(json.dumps(envelope).encode(), "r.json")


def test_what_is_signed_holds_the_type_and_both_lengths() -> None:
    assert encode("t", b"") == b"DSSEv1 1 t 0 "
    assert encode("té", b"1 2") == b"DSSEv1 3 t\xc3\xa9 3 1 2"


def test_a_key_has_signed_what_it_has_signed_and_no_other_key_has(tmp_path: Path) -> None:
    key, other = key_in(tmp_path), key_in(tmp_path, "other")
    envelope = signed(statement(), key)
    assert envelope["signatures"][0]["keyid"] == key_id(key.public)
    found = read(envelope)
    assert found.is_signed_by(key.public)
    assert found.is_signed_by(key.public)
    assert not found.is_signed_by(other.public)


def test_the_name_of_a_key_is_nobodys_word(tmp_path: Path) -> None:
    key, other = key_in(tmp_path), key_in(tmp_path, "other")
    envelope = signed(statement(), other)
    envelope["signatures"][0]["keyid"] = key_id(key.public)
    assert not read(envelope).is_signed_by(key.public)


def test_a_changed_payload_is_not_signed(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    envelope = signed(statement(), key)
    other = base64.b64encode(base64.b64decode(envelope["payload"]).replace(b"12", b"99"))
    assert not read({**envelope, "payload": other.decode()}).is_signed_by(key.public)


def test_a_payload_without_its_envelope_is_not_what_is_signed(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    envelope = signed(statement(), key)
    sig = base64.b64encode(key.sign(base64.b64decode(envelope["payload"]))).decode()
    assert not read({**envelope, "signatures": [{"sig": sig}]}).is_signed_by(key.public)


def test_a_signature_beside_the_right_one_neither_adds_nor_takes(tmp_path: Path) -> None:
    key, other = key_in(tmp_path), key_in(tmp_path, "other")
    envelope = signed(statement(), key)
    foreign = signed(statement(), other)["signatures"]
    forged = {"keyid": "x", "sig": base64.b64encode(bytes(64)).decode()}
    found = read({**envelope, "signatures": [forged, *foreign, *envelope["signatures"]]})
    assert found.is_signed_by(key.public)
    assert found.is_signed_by(other.public)
    assert not found.is_signed_by(key_in(tmp_path, "third").public)


def test_another_type_is_refused_also_where_it_is_properly_signed(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    for kind in ("application/json", PAYLOAD_TYPE.upper(), f"{PAYLOAD_TYPE} "):
        with pytest.raises(ReceiptError, match="payloadType"):
            read(resigned(signed(statement(), key), key, kind))


def test_base64_counts_only_as_it_would_be_written_again(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    envelope = signed(statement(), key)
    payload, sig = envelope["payload"], envelope["signatures"][0]["sig"]
    assert sig.endswith("==")
    # The last letter before the padding has four bits that say nothing.
    twin = sig[:-3] + chr(ord(sig[-3]) + 1) + "=="
    for other in (f"{payload}\n", payload.rstrip("=") + "!", "", "é", 7, None, [payload]):
        with pytest.raises(ReceiptError, match="“payload” is not base64"):
            read({**envelope, "payload": other})
    for other in (twin, sig[:-2], f" {sig}", "-" + sig[1:] + "+", None):
        with pytest.raises(ReceiptError, match="“sig” is not base64"):
            read({**envelope, "signatures": [{"sig": other}]})


def test_the_alphabet_for_urls_is_taken_too(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    envelope = signed({"é": "ÿÿÿ>>>???~~~"}, key)
    text = base64.urlsafe_b64encode(base64.b64decode(envelope["payload"])).decode()
    assert read({**envelope, "payload": text}).is_signed_by(key.public)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "not an object"),
        (b'{"payloadType": "a", "payloadType": "b"}', "duplicate key"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"payload": NaN}', "not JSON"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "payload": "e30="}).encode(), "not signed"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": {}}).encode(), "not signed"),
        (json.dumps({"payloadType": PAYLOAD_TYPE, "signatures": [1] * 17}).encode(), "more than"),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "e30=", "signatures": [7]}
            ).encode(),
            "“sig”",
        ),
        (
            json.dumps(
                {"payloadType": PAYLOAD_TYPE, "payload": "e30=", "signatures": [{"sig": "YQ=="}]}
            ).encode(),
            "must have 64 bytes, got 1",
        ),
    ],
)
def test_what_is_no_envelope_is_told(data: bytes, what: str) -> None:
    with pytest.raises(ReceiptError, match=what):
        read_envelope(data, "r.json")
