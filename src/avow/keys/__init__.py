"""Where keys and secrets come from; what is done with keys: signing and sealing."""

from avow.keys.reference import FORM, Reference, find_reference
from avow.keys.ring import Keyring, key_id
from avow.keys.source import FILE_VARIABLE, VARIABLE, load_keys, make_key, rotate_keys

__all__ = [
    "FILE_VARIABLE",
    "FORM",
    "VARIABLE",
    "Keyring",
    "Reference",
    "find_reference",
    "key_id",
    "load_keys",
    "make_key",
    "rotate_keys",
]
