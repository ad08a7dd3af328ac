"""The audit page: the log of calls."""
