"""Where keys come from, and what is done with them: signing and sealing."""

from avow.keys.ring import Keyring, key_id
from avow.keys.source import FILE_VARIABLE, VARIABLE, load_keys, make_key, rotate_keys

__all__ = [
    "FILE_VARIABLE",
    "VARIABLE",
    "Keyring",
    "key_id",
    "load_keys",
    "make_key",
    "rotate_keys",
]
