"""Signed receipts of verifier runs, bound to the package that ran.

Reading checks the form of envelope and statement, but trusts no key. A tool keeps its receipts
(`Tool.receipts`), each with a function that checks whether a public key signed it. Whenever the
policy resolves hints, it calls this function for the keys that it trusts. So the same receipts
work with any policy, and only the policy decides which keys count. Receipts are applied after the
drift check, so they hide no change of a tool.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.receipts.collection import ReceiptCollection, package_of
from sayso.receipts.envelope import Envelope, read_envelope, write_envelope
from sayso.receipts.file import load_receipts, make_receipt, read_receipt, write_receipt
from sayso.receipts.statement import Receipt, make_statement, read_statement

if TYPE_CHECKING:
    from sayso.receipts.collection import DROPPED
    from sayso.receipts.file import read_report


__all__ = [
    "DROPPED",
    "Envelope",
    "Receipt",
    "ReceiptCollection",
    "load_receipts",
    "make_receipt",
    "make_statement",
    "package_of",
    "read_envelope",
    "read_receipt",
    "read_report",
    "read_statement",
    "write_envelope",
    "write_receipt",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.receipts.collection": ("DROPPED",),
        "sayso.receipts.file": ("read_report",),
    },
)
