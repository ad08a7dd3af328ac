"""What a receipt says: the verdicts that a run of a package's tools came to, as values."""

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
"""What may contain a server while its tools run, and what may watch it."""

CONTAINING: Final = frozenset(LAYERS[:5])
"""The layers without which nothing is run, unless that is asked for in so many words."""

KEY_FORM: Final = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
"""32 bytes in base64, in the one way to write them: a key has one spelling."""

_SIGN: Final = 1 << 255
_FIELD: Final = _SIGN - 19
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
"""Points of Edwards25519 of small order, without their sign: for these anybody can sign."""


@dataclass(frozen=True, slots=True)
class HintReceipt:
    """What a run found of one hint: the verdict on its looser value, and what stands behind it.

    `calls` is how many calls, `inputs` the classes of input that they reached, `observers` who
    looked on. `is_partial` where one that is needed for more was not there.
    """

    verdict: Verdict
    calls: int = 0
    inputs: tuple[str, ...] = ()
    observers: tuple[str, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """What was run: `digest` is the SHA-256 over its files, in hexadecimal.

    `files` has the SHA-256 of each file by its path; empty where that is not known.
    """

    kind: str
    name: str
    version: str
    digest: str
    files: Mapping[str, str] = field(
        default_factory=dict[str, str], repr=False, compare=False, hash=False
    )

    def __str__(self) -> str:
        """`name version (sha256:0123456789ab…)`."""
        named = f"{self.name} {self.version}".strip()
        return f"{named} (sha256:{self.digest[:12]}…)"


def _nobody(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ToolReceipt:
    """What one receipt says of one tool, and whether a public key has signed it.

    `package` is the digest of what ran, `layers` those that were active, `where` the receipt's
    file. Whoever takes its word asks `is_signed_by` first, of a key that counts.
    """

    name: str
    fingerprint: str
    hints: Mapping[HintName, HintReceipt]
    layers: frozenset[str] = frozenset()
    package: str = ""
    where: str = ""
    is_signed_by: Callable[[str], bool] = field(default=_nobody, repr=False, compare=False)


def fault_of_key(text: str) -> str | None:
    """What is wrong with a public key as a configuration holds it, or `None`.

    >>> fault_of_key("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    'for this key anybody can sign'
    """
    if not KEY_FORM.fullmatch(text):
        return "this is not an Ed25519 public key: 32 bytes in base64"
    if int.from_bytes(b64decode(text), "little") % _SIGN in _WEAK:
        return "for this key anybody can sign"
    return None
