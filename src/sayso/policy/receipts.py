"""Trusted receipt keys, and the minimum that each requires of a receipt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.fields import convert, subset, text, whole
from sayso.intent import CONTAINING, LAYERS, HintName, HintReceipt, ToolReceipt, Verdict

LEAST_CALLS: Final = 5


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    """A trusted public key, with what it requires of a verdict that loosens a hint."""

    name: str
    key: str
    calls: int = LEAST_CALLS
    layers: frozenset[str] = CONTAINING

    def __post_init__(self) -> None:
        convert(self, name=text, key=text, calls=whole(1), layers=subset(*LAYERS))

    def doubt(self, receipt: ToolReceipt, found: HintReceipt) -> str:
        """Return why a supported hint does not count with this key, or "" if it counts."""
        if found.is_partial:
            return "a required observer was missing"
        if found.calls < self.calls:
            return f"the receipt has {found.calls} calls; the policy requires {self.calls}"
        if missing := sorted(self.layers - receipt.layers):
            return f"the server ran without {', '.join(missing)}, which the policy requires"
        return ""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One receipt's verdict on one hint. `doubt` explains why it does not count."""

    receipt: ToolReceipt
    key: ReceiptKey
    found: HintReceipt
    doubt: str = ""


def weigh(
    keys: Sequence[ReceiptKey], receipts: Sequence[ToolReceipt], name: HintName
) -> Iterator[Weighed]:
    """Yield the verdicts on one hint by trusted keys. A refutation always counts."""
    for receipt in receipts:
        found = receipt.hints.get(name)
        if found is None:
            continue
        for key in keys:
            if receipt.is_signed_by(key.key):
                doubt = ""
                if found.verdict == "supported":
                    doubt = key.doubt(receipt, found)
                yield Weighed(receipt, key, found, doubt)


def verdict_of(weighed: Sequence[Weighed]) -> Verdict | None:
    """Return the strictest verdict that counts."""
    found = {receipt.found.verdict for receipt in weighed if not receipt.doubt}
    verdicts: tuple[Verdict, ...] = ("refuted", "supported", "not_exercised")
    return next((verdict for verdict in verdicts if verdict in found), None)
