"""Where keys and secrets come from; what is done with keys: signing and sealing."""

from avow.keys.reference import FORM, Reference, find_reference
from avow.keys.ring import Keyring, key_id
from avow.keys.signing import SigningKey, is_signed, load_signing_key, make_signing_key
from avow.keys.source import FILE_VARIABLE, VARIABLE, load_keys, make_key, rotate_keys

__all__ = [
    "FILE_VARIABLE",
    "FORM",
    "VARIABLE",
    "Keyring",
    "Reference",
    "SigningKey",
    "find_reference",
    "is_signed",
    "key_id",
    "load_keys",
    "load_signing_key",
    "make_key",
    "make_signing_key",
    "rotate_keys",
]
