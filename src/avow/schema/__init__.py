"""JSON values: canonical form, digest, strict reading, redaction. Pure: no I/O, no SDK."""

from avow.schema.canonical import canonical, digest, parse_json
from avow.schema.redact import MASK, redact

__all__ = ["MASK", "canonical", "digest", "parse_json", "redact"]
