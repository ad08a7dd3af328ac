"""JSON values: canonical form, digests, strict parsing, redaction, schemas. Pure: no I/O."""

from sayso.schema.bounds import bounded, excerpt
from sayso.schema.canonical_json import (
    RepeatedKeyError,
    canonical,
    digest,
    digest_exactly,
    parse_json,
)
from sayso.schema.clipping import MARKER, clip
from sayso.schema.compact import read_json, read_strictly, write_json
from sayso.schema.cost import schema_cost, weight
from sayso.schema.location import locate
from sayso.schema.paths import Path, hide, parse_path
from sayso.schema.plain_text import (
    QUOTES,
    cut,
    is_hidden,
    is_unseen,
    plain,
    plain_code,
    quoted,
    read_traceparent,
    sayable,
    unquoted,
)
from sayso.schema.redaction import MASK, redact, redact_start
from sayso.schema.secret_names import PATTERNS, TABLE
from sayso.schema.secret_values import COLOURS, LOOKS
from sayso.schema.short_text import brief, retold
from sayso.schema.strip import Stripper, exact
from sayso.schema.subschema_walk import is_switch, list_of, object_of, subschemas, text_of
from sayso.schema.truncation import LIMIT, Cut, Piece, ValuePath, at, level, put, size, truncate
from sayso.schema.validate import Checker, Problem

__all__ = [
    "COLOURS",
    "LIMIT",
    "LOOKS",
    "MARKER",
    "MASK",
    "PATTERNS",
    "QUOTES",
    "TABLE",
    "Checker",
    "Cut",
    "Path",
    "Piece",
    "Problem",
    "RepeatedKeyError",
    "Stripper",
    "ValuePath",
    "at",
    "bounded",
    "brief",
    "canonical",
    "clip",
    "cut",
    "digest",
    "digest_exactly",
    "exact",
    "excerpt",
    "hide",
    "is_hidden",
    "is_switch",
    "is_unseen",
    "level",
    "list_of",
    "locate",
    "object_of",
    "parse_json",
    "parse_path",
    "plain",
    "plain_code",
    "put",
    "quoted",
    "read_json",
    "read_strictly",
    "read_traceparent",
    "redact",
    "redact_start",
    "retold",
    "sayable",
    "schema_cost",
    "size",
    "subschemas",
    "text_of",
    "truncate",
    "unquoted",
    "weight",
    "write_json",
]
