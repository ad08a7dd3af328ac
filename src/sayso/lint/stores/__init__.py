"""Documents for store reviews, made from what is known about a server's tools."""

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
