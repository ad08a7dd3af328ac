"""The audit log: who called what, with which hints, what was decided, and how it ended.

A call has the records `asked`, `attempt` and `outcome`, or one record `refused`. Each is complete:
caller, tool, fingerprint, hints with their sources at that time, decision and rule. A record gets
its place in its writer's chain when it is written (`chain`). A chain's first record is written with
the first call. It names the ends of other chains that no record names yet (`chain_start`).

When a writer dies, another process takes over. It waits for the records that the dead writer sent
to the database. Then it closes the dead writer's open calls once each as `outcome_unknown`, and
releases the idempotency keys of calls without an attempt. `deferred` holds outcomes to write later.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.audit.chain import Chain
    from sayso.audit.chain_heads import Emit, heads_file, log_head, read_heads
    from sayso.audit.exporter import export, to_dict
    from sayso.audit.lifecycle import close_unfinished, open_audit
    from sayso.audit.log import AuditLog, may_wait
    from sayso.audit.query import Filter, RecordPage, search
    from sayso.audit.record import Event, Facts, Outcome, draw_salt, merged
    from sayso.audit.upkeep import drop_before, erase_subject
    from sayso.audit.verifier import PAGE, Report, Verifier, verify


__all__ = [
    "PAGE",
    "AuditLog",
    "Chain",
    "Emit",
    "Event",
    "Facts",
    "Filter",
    "Outcome",
    "RecordPage",
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
        "sayso.audit.lifecycle": ("close_unfinished", "open_audit"),
        "sayso.audit.query": ("Filter", "RecordPage", "search"),
        "sayso.audit.record": ("Event", "Facts", "Outcome", "draw_salt", "merged"),
        "sayso.audit.upkeep": ("drop_before", "erase_subject"),
        "sayso.audit.verifier": ("PAGE", "Report", "Verifier", "verify"),
    },
)
