"""The record of every call: who, what, which hints from whom, what was decided, how it ended."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.audit.chain import Chain
    from sayso.audit.chain_heads import Emit, heads_file, log_head, read_heads
    from sayso.audit.exporter import export, to_dict
    from sayso.audit.log import AuditLog, may_wait
    from sayso.audit.opening import close_unfinished, open_audit
    from sayso.audit.query import Filter, Found, search
    from sayso.audit.record import Event, Facts, Outcome, merged, severity
    from sayso.audit.salt import draw_salt
    from sayso.audit.upkeep import Erasure, drop_before, erase_subject
    from sayso.audit.verifier import PAGE, Report, Verifier, verify


__all__ = [
    "PAGE",
    "AuditLog",
    "Chain",
    "Emit",
    "Erasure",
    "Event",
    "Facts",
    "Filter",
    "Found",
    "Outcome",
    "Report",
    "Verifier",
    "close_unfinished",
    "draw_salt",
    "drop_before",
    "erase_subject",
    "export",
    "heads_file",
    "log_head",
    "may_wait",
    "merged",
    "open_audit",
    "read_heads",
    "search",
    "severity",
    "to_dict",
    "verify",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.audit.chain": ("Chain",),
        "sayso.audit.chain_heads": ("Emit", "heads_file", "log_head", "read_heads"),
        "sayso.audit.exporter": ("export", "to_dict"),
        "sayso.audit.log": ("AuditLog", "may_wait"),
        "sayso.audit.opening": ("close_unfinished", "open_audit"),
        "sayso.audit.query": ("Filter", "Found", "search"),
        "sayso.audit.record": ("Event", "Facts", "Outcome", "merged", "severity"),
        "sayso.audit.salt": ("draw_salt",),
        "sayso.audit.upkeep": ("Erasure", "drop_before", "erase_subject"),
        "sayso.audit.verifier": ("PAGE", "Report", "Verifier", "verify"),
    },
)
