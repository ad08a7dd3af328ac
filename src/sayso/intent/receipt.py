"""The content of receipts as values: verdicts of a verifier run."""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sayso.intent.hints import HintName
from sayso.intent.resolution import Verdict

LAYERS: Final = (
    *("root", "users", "processes", "network", "private", "limits", "filter", "overlay"),
    *("syscalls", "files", "sqlite", "postgres", "output", "hook", "probe", "site"),
)
"""The containment and observation layers of a verifier run."""

CONTAINING: Final = frozenset(LAYERS[:5])
"""The first five layers, which a run must have unless an option waives them."""

KEY_FORM: Final = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
"""32 bytes in canonical base64, so that a key has one spelling."""

_SIGN: Final = 1 << 255  # the bit of a key that holds a sign; the other bits are a coordinate
_FIELD: Final = _SIGN - 19  # the prime of Curve25519
_WEAK: Final = frozenset(
    {
        0,
        1,
        _FIELD - 1,
        _FIELD,
        _FIELD + 1,
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    }
)
"""Keys that are points of small order, without the sign bit: anyone can forge their signatures."""


@dataclass(frozen=True, slots=True)
class HintReceipt:
    """The verdict on the looser value of one hint, with its evidence.

    `calls` counts the calls, `inputs` are the input classes that the calls covered, and `observers`
    were active. `is_partial` is true if a required observer was missing.
    """

    verdict: Verdict
    calls: int = 0
    inputs: tuple[str, ...] = ()
    observers: tuple[str, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """The package that ran; `digest` is the hexadecimal SHA-256 of its files.

    `files` maps each path to the SHA-256 of its file, and is empty if unknown.
    """

    kind: str
    name: str
    version: str
    digest: str
    files: Mapping[str, str] = field(
        default_factory=dict[str, str], repr=False, compare=False, hash=False
    )

    def __str__(self) -> str:
        """Return `name version (sha256:0123456789ab…)`."""
        named = f"{self.name} {self.version}".strip()
        return f"{named} (sha256:{self.digest[:12]}…)"


def _unsigned(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ToolReceipt:
    """One receipt's verdicts on one tool.

    `package` is the digest of the package, `layers` the active layers, `where` the receipt's file.
    Check `is_signed_by` with a trusted public key before using the verdicts.
    """

    name: str
    fingerprint: str
    hints: Mapping[HintName, HintReceipt]
    layers: frozenset[str] = frozenset()
    package: str = ""
    where: str = ""
    is_signed_by: Callable[[str], bool] = field(default=_unsigned, repr=False, compare=False)


def fault_of_key(text: str) -> str | None:
    """Return the problem of a configured public key, or `None` if it is usable.

    >>> fault_of_key("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    'weak key: anyone can forge its signatures'
    """
    if not KEY_FORM.fullmatch(text):
        return "not an Ed25519 public key (32 bytes in base64)"
    if int.from_bytes(b64decode(text), "little") % _SIGN in _WEAK:
        return "weak key: anyone can forge its signatures"
    return None
