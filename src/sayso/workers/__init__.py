"""Worker processes for work that nothing else bounds: it ends in time, or its process does."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.workers.checker import BoundedChecker, UndecidedError
from sayso.workers.pool import Output, run_job

if TYPE_CHECKING:
    from sayso.workers.checker import MAX_LOCAL_COST
    from sayso.workers.child import encoded
    from sayso.workers.pool import BusyError, packed


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

__getattr__ = lazily(
    __name__,
    {
        "sayso.workers.checker": ("MAX_LOCAL_COST",),
        "sayso.workers.child": ("encoded",),
        "sayso.workers.pool": ("BusyError", "packed"),
    },
)
