"""Worker processes for work that nothing else bounds: it ends in time, or its process does."""

from avow.workers.checker import BoundedChecker, UndecidedError
from avow.workers.pool import Output, run_job

__all__ = ["BoundedChecker", "Output", "UndecidedError", "run_job"]
