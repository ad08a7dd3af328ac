"""The options that say which receipts are at hand, and whose of them count."""

from dataclasses import dataclass
from typing import Final

from cyclopts import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Given:
    """Receipts, and the policy that they count under.

    Parameters
    ----------
    receipts
        A receipt of sayso verify, or a folder of them (.json): what they show of the package that
        is run counts, as far as the policy trusts their keys.
    policy
        A policy.toml: its trust, its keys and its operator's word count.
    """

    receipts: str | None = None
    policy: str | None = None


NOTHING: Final = Given()
