"""Signed receipts of verifier runs, bound to the package that ran.

A receipt is read without believing it: envelope, then statement, each part checked. It stays with
its tool (`Tool.receipts`), together with a function that checks a public key's signature. The
policy calls that for the keys that it trusts, whenever it resolves hints. So another policy needs
no other receipts, and nothing below the policy decides whose word counts. Receipts are applied
after drift was judged, so they hide no change.
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
