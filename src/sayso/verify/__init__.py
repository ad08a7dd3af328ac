"""The verifier: runs tools in containment to find out whether their hints are true.

    probe -> prepare -> server in a sandbox with watchers -> explore -> suspects
    -> confirm, each in a new sandbox -> judge -> report

`observe` reports what changed between two looks and judges nothing. `grade` merges what several
observers saw, then grades each effect by its lifetime and owner. It reads files of the sandbox, so
it runs before the sandbox ends, twice: per call, and again when all tools were called, because
other tools show what a record is for. `judge` is pure: calls with graded effects in, verdicts out.
A suspicion becomes evidence when `confirm` has seen the same effect again in a new sandbox, idle
effects subtracted; the shortest sequence that shows it is reported.
"""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.verify.event import Event
    from sayso.verify.in_process import verify_here
    from sayso.verify.judge import Profile
    from sayso.verify.options import Terms
    from sayso.verify.report import FORMATS, Terminal
    from sayso.verify.run import verify
    from sayso.verify.verdict import HintVerdict, Report, ToolReport


__all__ = [
    "FORMATS",
    "Event",
    "HintVerdict",
    "Profile",
    "Report",
    "Terminal",
    "Terms",
    "ToolReport",
    "verify",
    "verify_here",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.verify.event": ("Event",),
        "sayso.verify.in_process": ("verify_here",),
        "sayso.verify.judge": ("Profile",),
        "sayso.verify.options": ("Terms",),
        "sayso.verify.report": ("FORMATS", "Terminal"),
        "sayso.verify.run": ("verify",),
        "sayso.verify.verdict": ("HintVerdict", "Report", "ToolReport"),
    },
)
