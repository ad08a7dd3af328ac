"""Keys: load and create them, sign and encrypt with them; references to secrets."""

from sayso.keys.passphrase import lock_keys, read_passphrase, unlock_keys
from sayso.keys.reference import FORM, Reference, find_reference
from sayso.keys.ring import KEY_BYTES, Keyring, key_id
from sayso.keys.signing import SigningKey, is_signed, load_signing_key, make_signing_key
from sayso.keys.source import FILE_VARIABLE, VARIABLE, key_file, load_keys, make_key, write_keys

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
    "key_file",
    "key_id",
    "load_keys",
    "load_signing_key",
    "lock_keys",
    "make_key",
    "make_signing_key",
    "read_passphrase",
    "unlock_keys",
    "write_keys",
]
