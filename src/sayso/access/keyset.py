"""An issuer's public keys (RFC 7517). A key is used only with algorithms for its type."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

ALGORITHMS: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), ("RSA", frozenset())),
    "ES256": ("EC", frozenset({"P-256"})),
    "ES384": ("EC", frozenset({"P-384"})),
    "ES512": ("EC", frozenset({"P-521"})),
    "Ed25519": ("OKP", frozenset({"Ed25519"})),
    "EdDSA": ("OKP", frozenset({"Ed25519"})),
}
"""Signature algorithms with their key types and curves, all asymmetric (RFC 7518, section 3.1;
RFC 8037; RFC 9864)."""

_NUMBERS: Final = ("kty", "crv", "n", "e", "x", "y")
_MAX_KEYS: Final = 100
_LEAST_BITS: Final = 2048  # RFC 7518, section 3.3


@dataclass(frozen=True, slots=True)
class Key:
    """A public key and its permitted algorithms."""

    kid: str | None
    algorithms: frozenset[str]
    public: Any = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys of an issuer that may sign tokens."""

    keys: tuple[Key, ...]

    def find(self, kid: str | None, algorithm: str) -> Key | None:
        """Return the only key for this ID and algorithm, or without an ID for this algorithm."""
        matches = [
            key
            for key in self.keys
            if algorithm in key.algorithms and (kid is None or key.kid == kid)
        ]
        if len(matches) != 1:
            return None
        return matches[0]


def read_keys(document: Mapping[str, Any], algorithms: Iterable[str]) -> KeySet | None:
    """Return the keys for these `algorithms` in a JSON Web Key Set; `None` for an invalid set."""
    listed = document.get("keys")
    if not isinstance(listed, list):
        return None
    permitted = frozenset(algorithms)
    keys = [_key(value, permitted) for value in cast("list[object]", listed)[:_MAX_KEYS]]
    return KeySet(tuple(key for key in keys if key is not None))


def _key(value: object, permitted: frozenset[str]) -> Key | None:
    if not isinstance(value, dict):
        return None
    jwk = cast("dict[str, Any]", value)
    kid = jwk.get("kid")
    named = jwk.get("alg")
    if not isinstance(kid, str | None) or jwk.get("use", "sig") != "sig":
        return None
    operations = jwk.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        return None
    fit = frozenset(
        name
        for name, (kind, curves) in ALGORITHMS.items()
        if name in permitted
        and jwk.get("kty") == kind
        and (not curves or str(jwk.get("crv")) in curves)
        and named in (None, name)
    )
    if not fit:
        return None
    public = _public(jwk)
    if public is None:
        return None
    return Key(kid, fit, public)


def _public(jwk: dict[str, Any]) -> object | None:
    """Return the key for verification; `None` if it is invalid, private or too short."""
    from joserfc.errors import JoseError  # noqa: PLC0415 - 40 ms, needed only to verify
    from joserfc.jwk import import_key  # noqa: PLC0415
    from joserfc.util import base64_to_int  # noqa: PLC0415

    if "d" in jwk:
        return None
    # Import only the key's numbers, because `_key` has checked the other members.
    numbers = {name: jwk[name] for name in _NUMBERS if name in jwk}
    try:
        if jwk["kty"] == "RSA" and base64_to_int(numbers["n"]).bit_length() < _LEAST_BITS:
            return None
        return import_key(numbers)
    except (JoseError, ValueError, TypeError, KeyError, AttributeError):
        return None
