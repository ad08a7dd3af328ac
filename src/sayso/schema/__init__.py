"""JSON values: canonical form, digest, strict reading, redaction, schemas. Pure: no I/O, no SDK."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.schema.canonical_json import (
    RepeatedKeyError,
    canonical,
    digest,
    digest_exactly,
    parse_json,
)
from sayso.schema.exact_schema import exact
from sayso.schema.redaction import MASK, redact, redact_start
from sayso.schema.short_text import brief, retold
from sayso.schema.strip import Stripper
from sayso.schema.subschema_walk import subschemas
from sayso.schema.switch import is_switch
from sayso.schema.truncation import LIMIT, Cut, Piece, at, put, size, truncate
from sayso.schema.validate import Checker, Problem

if TYPE_CHECKING:
    from sayso.schema.bounds import bounded
    from sayso.schema.clipping import MARKER, clip
    from sayso.schema.compact import read_json, read_strictly, write_json
    from sayso.schema.cost import schema_cost, weight
    from sayso.schema.excerpts import excerpt
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
        sayable,
        unquoted,
    )
    from sayso.schema.secret_names import PATTERNS, TABLE
    from sayso.schema.secret_values import COLOURS, LOOKS
    from sayso.schema.trace import read_traceparent
    from sayso.schema.truncation import ValuePath, level


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
    "locate",
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
    "truncate",
    "unquoted",
    "weight",
    "write_json",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.schema.bounds": ("bounded",),
        "sayso.schema.clipping": ("MARKER", "clip"),
        "sayso.schema.compact": ("read_json", "read_strictly", "write_json"),
        "sayso.schema.cost": ("schema_cost", "weight"),
        "sayso.schema.excerpts": ("excerpt",),
        "sayso.schema.location": ("locate",),
        "sayso.schema.paths": ("Path", "hide", "parse_path"),
        "sayso.schema.plain_text": (
            "QUOTES",
            "cut",
            "is_hidden",
            "is_unseen",
            "plain",
            "plain_code",
            "quoted",
            "sayable",
            "unquoted",
        ),
        "sayso.schema.secret_names": ("PATTERNS", "TABLE"),
        "sayso.schema.secret_values": ("COLOURS", "LOOKS"),
        "sayso.schema.trace": ("read_traceparent",),
        "sayso.schema.truncation": ("ValuePath", "level"),
    },
)
