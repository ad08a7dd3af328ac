"""The manifest of a backup: what the file contains, and which sayso can read it."""

from typing import Final, Literal

import msgspec

from sayso.errors import UsageError
from sayso.keys import Keyring
from sayso.store import VERSION

FORMAT: Final = 1
_PURPOSE: Final = "backup"
_DAMAGED: Final = "the backup is damaged: "
_ANOTHER: Final = "Use another backup."


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a backup contains.

    `version` is the version of the tables. `bytes` and `sha256` are of `store.db`. `keys` are the
    ids of the keys that sign the log, and `locked` the keys themselves, encrypted.
    """

    format: int = FORMAT
    version: int
    sayso: str
    created: float
    database: Literal["sqlite", "postgresql"]
    rows: dict[str, int]
    bytes: int
    sha256: str
    keys: tuple[str, ...]
    locked: str | None = None

    def encode(self) -> "bytes":
        return msgspec.json.format(msgspec.json.encode(self), indent=2)


class _Versions(msgspec.Struct):
    format: int
    version: int


def read_manifest(content: bytes, where: str) -> Manifest:
    """Return a manifest. Raises `UsageError` if it is damaged or from a newer sayso."""
    try:
        versions = msgspec.json.decode(content, type=_Versions)
        if versions.format > FORMAT or versions.version > VERSION:
            what = (
                f"a newer sayso wrote this backup: format {versions.format}, tables "
                f"{versions.version}; this sayso reads formats to {FORMAT}, tables to {VERSION}"
            )
            raise UsageError(what, where=where, fix="Restore it with the sayso that wrote it.")
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise damaged(f"its manifest cannot be read ({error})", where) from error


def bound_of(keys: tuple[str, ...]) -> bytes:
    """Return what encrypted keys are bound to: their ids."""
    return f"{_PURPOSE} {' '.join(keys)}".encode()


def sign(keys: Keyring, manifest: bytes) -> bytes:
    """Return the signature of a manifest."""
    return keys.sign(_PURPOSE, manifest).encode()


def check_signature(keys: Keyring, manifest: bytes, signature: bytes, where: str) -> None:
    """Raise `UsageError` if none of the keys signed the manifest."""
    if not keys.verify(_PURPOSE, manifest, signature.decode(errors="replace")):
        raise damaged("its signature does not match its manifest", where)


def damaged(what: str, where: str) -> UsageError:
    """Return the error for a backup that is truncated or was changed."""
    return UsageError(f"{_DAMAGED}{what}", where=where, fix=_ANOTHER)
