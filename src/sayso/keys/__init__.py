"""Keys: load and create them, sign and encrypt with them; references to secrets."""

from sayso.keys.reference import FORM, Reference, find_reference
from sayso.keys.ring import KEY_BYTES, Keyring, key_id
from sayso.keys.signing import SigningKey, is_signed, load_signing_key, make_signing_key
from sayso.keys.source import FILE_VARIABLE, VARIABLE, load_keys, make_key

__all__ = [
    "FILE_VARIABLE",
    "FORM",
    "KEY_BYTES",
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
]
