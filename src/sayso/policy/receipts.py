"""Whose receipts count: the keys that an operator trusts, and the least that each must show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.fields import convert, subset, text, whole
from sayso.intent import CONTAINING, LAYERS, HintName, HintReceipt, ToolReceipt, Verdict

LEAST_CALLS: Final = 5


@dataclass(frozen=True, slots=True)
class ReceiptKey:
    """A public key, and what must stand behind a verdict by it that permits more."""

    name: str
    key: str
    calls: int = LEAST_CALLS
    layers: frozenset[str] = CONTAINING

    def __post_init__(self) -> None:
        convert(self, name=text, key=text, calls=whole(1), layers=subset(*LAYERS))

    def doubt(self, receipt: ToolReceipt, found: HintReceipt) -> str:
        """Why a hint that a receipt supports does not count by this key; empty where it does."""
        if found.is_partial:
            return "it was not watched by all that this needs"
        if found.calls < self.calls:
            return f"{found.calls} calls stand behind it, and the policy wants {self.calls}"
        if missing := sorted(self.layers - receipt.layers):
            return f"it ran without {', '.join(missing)}, which the policy wants"
        return ""


@dataclass(frozen=True, slots=True)
class Weighed:
    """What one receipt says of one hint under a policy; `doubt` is why it does not count."""

    receipt: ToolReceipt
    key: ReceiptKey
    found: HintReceipt
    doubt: str = ""


def weigh(
    keys: Sequence[ReceiptKey], receipts: Sequence[ToolReceipt], name: HintName
) -> Iterator[Weighed]:
    """What the receipts that a trusted key has signed say of one hint.

    That it is refuted counts without any minimum: it permits less.
    """
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
    """The verdict that counts: the strictest of those that do."""
    found = {receipt.found.verdict for receipt in weighed if not receipt.doubt}
    verdicts: tuple[Verdict, ...] = ("refuted", "supported", "not_exercised")
    return next((verdict for verdict in verdicts if verdict in found), None)
