"""DSSE 1.0 (Dead Simple Signing Envelope): a typed payload with signatures."""

import base64
import binascii
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, cast

from sayso.errors import ReceiptError, UsageError
from sayso.keys import SigningKey, is_signed
from sayso.schema import parse_json

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
MAX_SIGNATURES: Final = 16
_SIGNATURE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload with its signatures; `is_signed_by` checks them for one public key.

    Key IDs in the envelope are ignored, because anyone can write them.
    """

    payload: bytes = field(repr=False)
    signatures: tuple[bytes, ...] = field(repr=False)
    _known: dict[str, bool] = field(default_factory=dict[str, bool], repr=False, compare=False)

    def is_signed_by(self, public: str) -> bool:
        if public not in self._known:
            message = encode(PAYLOAD_TYPE, self.payload)
            self._known[public] = any(
                is_signed(message, public=public, signature=signature)
                for signature in self.signatures
            )
        return self._known[public]


def encode(kind: str, payload: bytes) -> bytes:
    """Return the bytes to sign (DSSE 1.0, PAE): type and payload, each after its length.

    >>> encode("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    name = kind.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(payload), payload)


def write_envelope(payload: bytes, key: SigningKey) -> str:
    """Return the signed envelope of `payload` as text."""
    signature = key.sign(encode(PAYLOAD_TYPE, payload))
    document = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id(key.public), "sig": base64.b64encode(signature).decode()}],
    }
    return f"{json.dumps(document)}\n"


def key_id(public: str) -> str:
    """Return the ID of a key in envelopes: the SHA-256 of its bytes."""
    return sha256(base64.b64decode(public)).hexdigest()


def read_envelope(data: bytes, where: str) -> Envelope:
    """Parse an envelope. Raises `ReceiptError` if it is invalid."""
    try:
        value = parse_json(data)
    except UsageError as error:
        raise ReceiptError(f"not a receipt: {error}", where=where) from error
    if not isinstance(value, dict):
        raise ReceiptError("not a receipt: not an object", where=where)
    document = cast("dict[str, Any]", value)
    if document.get("payloadType") != PAYLOAD_TYPE:
        what = f"not a receipt: payloadType is not {PAYLOAD_TYPE}"
        raise ReceiptError(what, where=where)
    signatures: object = document.get("signatures")
    if not isinstance(signatures, list) or not signatures:
        raise ReceiptError("not signed", where=where)
    listed = cast("list[object]", signatures)
    if len(listed) > MAX_SIGNATURES:
        raise ReceiptError(f"more than {MAX_SIGNATURES} signatures", where=where)
    payload = _bytes(document.get("payload"), "payload", where)
    return Envelope(payload, tuple(_signature(entry, where) for entry in listed))


def _signature(value: object, where: str) -> bytes:
    text: object = None
    if isinstance(value, dict):
        text = cast("dict[str, object]", value).get("sig")
    signature = _bytes(text, "sig", where)
    if len(signature) != _SIGNATURE_BYTES:
        what = f"a signature must have {_SIGNATURE_BYTES} bytes, got {len(signature)}"
        raise ReceiptError(what, where=where)
    return signature


def _bytes(value: object, name: str, where: str) -> bytes:
    text = value if isinstance(value, str) and value.isascii() else ""
    read = base64.b64decode
    write = base64.b64encode
    if "-" in text or "_" in text:
        read = base64.urlsafe_b64decode
        write = base64.urlsafe_b64encode
    try:
        data = read(text)
    except (binascii.Error, ValueError):
        data = b""
    if not data or write(data).decode() != text:
        raise ReceiptError(f"“{name}” is not base64", where=where)
    return data
