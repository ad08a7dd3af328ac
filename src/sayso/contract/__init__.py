"""Contract mode: tools that count as read-only run in a process that can change nothing."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.contract.readonly_process import Hold, ReadonlyProcess, ReadonlyProcesses
    from sayso.contract.ready import check_ready


__all__ = ["Hold", "ReadonlyProcess", "ReadonlyProcesses", "check_ready"]

__getattr__ = lazily(
    __name__,
    {
        "sayso.contract.readonly_process": ("Hold", "ReadonlyProcess", "ReadonlyProcesses"),
        "sayso.contract.ready": ("check_ready",),
    },
)
