"""The record of every call: who, what, which hints from whom, what was decided, how it ended."""

from avow.audit.chain import Chain
from avow.audit.export import FORMATS, export
from avow.audit.heads import Emit, heads_file, log_head, read_heads
from avow.audit.log import AuditLog
from avow.audit.opening import close_unfinished, open_audit
from avow.audit.record import Event, Facts, Outcome, merged, severity
from avow.audit.upkeep import Erasure, drop_before, erase_subject
from avow.audit.verify import Problem, Report, verify
from avow.schema.paths import Path, parse_path

__all__ = [
    "FORMATS",
    "AuditLog",
    "Chain",
    "Emit",
    "Erasure",
    "Event",
    "Facts",
    "Outcome",
    "Path",
    "Problem",
    "Report",
    "close_unfinished",
    "drop_before",
    "erase_subject",
    "export",
    "heads_file",
    "log_head",
    "merged",
    "open_audit",
    "parse_path",
    "read_heads",
    "severity",
    "verify",
]
