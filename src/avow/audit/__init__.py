"""The record of every call: who, what, which hints from whom, what was decided, how it ended."""

from avow.audit.log import AuditLog
from avow.audit.record import Event, Facts, Outcome, severity

__all__ = ["AuditLog", "Event", "Facts", "Outcome", "severity"]
