"""DSSE (Dead Simple Signing Envelope 1.0): bytes, what they are, and who has signed both."""

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
MOST_SIGNATURES: Final = 16
_SIGNATURE_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload as it was signed, and the signatures. Which of them hold is asked key by key.

    The name of a key in an envelope is nobody's word: it is not looked at.
    """

    payload: bytes = field(repr=False)
    signatures: tuple[bytes, ...] = field(repr=False)
    _known: dict[str, bool] = field(default_factory=dict[str, bool], repr=False, compare=False)

    def is_signed_by(self, public: str) -> bool:
        """Whether one of the signatures is by this public key."""
        if public not in self._known:
            message = encode(PAYLOAD_TYPE, self.payload)
            self._known[public] = any(
                is_signed(message, public=public, signature=signature)
                for signature in self.signatures
            )
        return self._known[public]


def encode(kind: str, payload: bytes) -> bytes:
    """What is signed (DSSE 1.0, PAE): the payload with its type, each after its length.

    >>> encode("http://example.com/HelloWorld", b"hello world")
    b'DSSEv1 29 http://example.com/HelloWorld 11 hello world'
    """
    name = kind.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(payload), payload)


def write_envelope(payload: bytes, key: SigningKey) -> str:
    """The envelope of `payload`, signed, as the text of a file."""
    signature = key.sign(encode(PAYLOAD_TYPE, payload))
    document = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {"keyid": name_of_key(key.public), "sig": base64.b64encode(signature).decode()}
        ],
    }
    return f"{json.dumps(document)}\n"


def name_of_key(public: str) -> str:
    """What a key is called in an envelope: the SHA-256 of its bytes."""
    return sha256(base64.b64decode(public)).hexdigest()


def read_envelope(data: bytes, where: str) -> Envelope:
    """The envelope in the bytes of a file. Raises `ReceiptError` where it is none."""
    try:
        value = parse_json(data)
    except UsageError as error:
        raise ReceiptError(f"this is no receipt: {error}", where=where) from error
    if not isinstance(value, dict):
        raise ReceiptError("this is no receipt: it is not an object", where=where)
    document = cast("dict[str, Any]", value)
    if document.get("payloadType") != PAYLOAD_TYPE:
        what = f"this is no receipt: its payloadType is not {PAYLOAD_TYPE}"
        raise ReceiptError(what, where=where)
    signatures: object = document.get("signatures")
    if not isinstance(signatures, list) or not signatures:
        raise ReceiptError("nobody has signed it", where=where)
    listed = cast("list[object]", signatures)
    if len(listed) > MOST_SIGNATURES:
        raise ReceiptError(f"it has more than {MOST_SIGNATURES} signatures", where=where)
    payload = _bytes(document.get("payload"), "payload", where)
    return Envelope(payload, tuple(_signature(entry, where) for entry in listed))


def _signature(value: object, where: str) -> bytes:
    text: object = None
    if isinstance(value, dict):
        text = cast("dict[str, object]", value).get("sig")
    signature = _bytes(text, "sig", where)
    if len(signature) != _SIGNATURE_BYTES:
        what = f"a signature has {_SIGNATURE_BYTES} bytes, this one has {len(signature)}"
        raise ReceiptError(what, where=where)
    return signature


def _bytes(value: object, name: str, where: str) -> bytes:
    """What base64 says, of either alphabet; only as it would be written again."""
    text = value if isinstance(value, str) and value.isascii() else ""
    read = base64.b64decode
    write = base64.b64encode
    if "-" in text or "_" in text:
        read = base64.urlsafe_b64decode
        write = base64.urlsafe_b64encode
    try:
        found = read(text)
    except (binascii.Error, ValueError):
        found = b""
    if not found or write(found).decode() != text:
        raise ReceiptError(f"its “{name}” is not base64", where=where)
    return found
