"""Receipts: what a run has shown, signed, and bound to the package that was run."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.receipts.envelope import Envelope, read_envelope, write_envelope
from sayso.receipts.file import load_receipts, make_receipt, read_receipt, write_receipt
from sayso.receipts.shelf import Shelf, package_of
from sayso.receipts.statement import Receipt, make_statement, read_statement

if TYPE_CHECKING:
    from sayso.receipts.file import read_report
    from sayso.receipts.shelf import DROPPED


__all__ = [
    "DROPPED",
    "Envelope",
    "Receipt",
    "Shelf",
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
        "sayso.receipts.file": ("read_report",),
        "sayso.receipts.shelf": ("DROPPED",),
    },
)
