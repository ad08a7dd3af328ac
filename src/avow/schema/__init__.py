"""JSON values: canonical form, digest, strict reading, redaction, schemas. Pure: no I/O, no SDK."""

from avow.schema.brief import brief, retold
from avow.schema.canonical import RepeatedKeyError, canonical, digest, digest_exactly, parse_json
from avow.schema.exact import exact
from avow.schema.redact import MASK, redact, redact_start
from avow.schema.strip import Stripper
from avow.schema.subschemas import subschemas
from avow.schema.switch import is_switch
from avow.schema.truncate import LIMIT, Cut, Piece, at, put, size, truncate
from avow.schema.validate import Checker, Problem

__all__ = [
    "LIMIT",
    "MASK",
    "Checker",
    "Cut",
    "Piece",
    "Problem",
    "RepeatedKeyError",
    "Stripper",
    "at",
    "brief",
    "canonical",
    "digest",
    "digest_exactly",
    "exact",
    "is_switch",
    "parse_json",
    "put",
    "redact",
    "redact_start",
    "retold",
    "size",
    "subschemas",
    "truncate",
]
