"""The record of every call: who, what, which hints from whom, what was decided, how it ended."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.audit.chain import Chain
    from avow.audit.heads import Emit, heads_file, log_head, read_heads
    from avow.audit.log import AuditLog
    from avow.audit.opening import close_unfinished, open_audit
    from avow.audit.record import Event, Facts, Outcome, merged, severity
    from avow.audit.upkeep import Erasure, drop_before, erase_subject
    from avow.schema.paths import Path, parse_path

__all__ = [
    "AuditLog",
    "Chain",
    "Emit",
    "Erasure",
    "Event",
    "Facts",
    "Outcome",
    "Path",
    "close_unfinished",
    "drop_before",
    "erase_subject",
    "heads_file",
    "log_head",
    "merged",
    "open_audit",
    "parse_path",
    "read_heads",
    "severity",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.audit.chain": ("Chain",),
        "avow.audit.heads": ("Emit", "heads_file", "log_head", "read_heads"),
        "avow.audit.log": ("AuditLog",),
        "avow.audit.opening": ("close_unfinished", "open_audit"),
        "avow.audit.record": ("Event", "Facts", "Outcome", "merged", "severity"),
        "avow.audit.upkeep": ("Erasure", "drop_before", "erase_subject"),
        "avow.schema.paths": ("Path", "parse_path"),
    },
)
