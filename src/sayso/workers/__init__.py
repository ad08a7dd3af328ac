"""Worker processes for work of unknown size: a process that takes too long is ended."""

from sayso.workers.checker import MAX_LOCAL_COST, BoundedChecker, UndecidedError
from sayso.workers.child import encoded
from sayso.workers.pool import BusyError, Output, packed, run_job

__all__ = [
    "MAX_LOCAL_COST",
    "BoundedChecker",
    "BusyError",
    "Output",
    "UndecidedError",
    "encoded",
    "packed",
    "run_job",
]
