"""Receipts: what a run has shown, signed, and bound to the package that was run."""

from avow.verify.receipt.envelope import Envelope, read_envelope, write_envelope
from avow.verify.receipt.file import load_receipts, make_receipt, read_receipt, write_receipt
from avow.verify.receipt.shelf import Shelf, package_of
from avow.verify.receipt.statement import Receipt, make_statement, read_statement

__all__ = [
    "Envelope",
    "Receipt",
    "Shelf",
    "load_receipts",
    "make_receipt",
    "make_statement",
    "package_of",
    "read_envelope",
    "read_receipt",
    "read_statement",
    "write_envelope",
    "write_receipt",
]
