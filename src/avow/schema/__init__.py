"""JSON values: canonical form, digest, strict reading, redaction, schemas. Pure: no I/O, no SDK."""

from avow.schema.brief import brief, retold
from avow.schema.canonical import canonical, digest, parse_json
from avow.schema.exact import exact
from avow.schema.redact import MASK, redact
from avow.schema.strip import Stripper
from avow.schema.truncate import LIMIT, Cut, size, truncate
from avow.schema.validate import Checker, Problem

__all__ = [
    "LIMIT",
    "MASK",
    "Checker",
    "Cut",
    "Problem",
    "Stripper",
    "brief",
    "canonical",
    "digest",
    "exact",
    "parse_json",
    "redact",
    "retold",
    "size",
    "truncate",
]
