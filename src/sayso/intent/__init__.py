"""What a tool does to the world, as declared and as resolved. Pure: no I/O, no SDK."""

from typing import TYPE_CHECKING

from sayso.intent.code import as_code, nearest, supposed
from sayso.intent.findings import Finding, contradictions
from sayso.intent.hints import (
    DEFAULTS,
    HINT_NAMES,
    LOOSER,
    STORE_HINTS,
    HintName,
    Hints,
    Level,
    level_of,
    required_hints,
)
from sayso.intent.presets import (
    APPEND,
    DELETE,
    DEPLOY,
    DESTRUCTIVE,
    FETCH,
    PRESETS,
    QUERY,
    READ_ONLY,
    SEARCH,
    SEND,
    UPSERT,
    WRITE,
    Intent,
)
from sayso.intent.receipt import (
    CONTAINING,
    KEY_FORM,
    LAYERS,
    HintReceipt,
    Package,
    ToolReceipt,
    fault_of_key,
)
from sayso.intent.resolution import (
    DOUBT,
    THRESHOLD,
    Evidence,
    Guess,
    Resolved,
    ResolvedIntent,
    Source,
    Trust,
    Verdict,
    resolve,
    stricter,
)
from sayso.intent.span import Span, shortest
from sayso.intent.spoken import as_intent, in_own_words
from sayso.intent.wire import (
    META_KEY,
    WIRE_NAMES,
    Declaration,
    declare,
    list_tool,
    read_tool,
    write_annotations,
    write_meta,
)
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.intent.hints import default_for
    from sayso.intent.spoken import SPELLINGS


__all__ = [
    "APPEND",
    "CONTAINING",
    "DEFAULTS",
    "DELETE",
    "DEPLOY",
    "DESTRUCTIVE",
    "DOUBT",
    "FETCH",
    "HINT_NAMES",
    "KEY_FORM",
    "LAYERS",
    "LOOSER",
    "META_KEY",
    "PRESETS",
    "QUERY",
    "READ_ONLY",
    "SEARCH",
    "SEND",
    "SPELLINGS",
    "STORE_HINTS",
    "THRESHOLD",
    "UPSERT",
    "WIRE_NAMES",
    "WRITE",
    "Declaration",
    "Evidence",
    "Finding",
    "Guess",
    "HintName",
    "HintReceipt",
    "Hints",
    "Intent",
    "Level",
    "Package",
    "Resolved",
    "ResolvedIntent",
    "Source",
    "Span",
    "ToolReceipt",
    "Trust",
    "Verdict",
    "as_code",
    "as_intent",
    "contradictions",
    "declare",
    "default_for",
    "fault_of_key",
    "in_own_words",
    "level_of",
    "list_tool",
    "nearest",
    "read_tool",
    "required_hints",
    "resolve",
    "shortest",
    "stricter",
    "supposed",
    "write_annotations",
    "write_meta",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.intent.hints": ("default_for",),
        "sayso.intent.spoken": ("SPELLINGS",),
    },
)
