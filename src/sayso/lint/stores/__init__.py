"""Submissions: documents for a store's review of a server, made from its tools."""

from sayso.lint.stores.claim import Basis, Claim, claims_of
from sayso.lint.stores.output import as_json, as_markdown
from sayso.lint.stores.store import Store, find_store, stores
from sayso.lint.stores.submission import Submission, Submitted, submit

__all__ = [
    "Basis",
    "Claim",
    "Store",
    "Submission",
    "Submitted",
    "as_json",
    "as_markdown",
    "claims_of",
    "find_store",
    "stores",
    "submit",
]
