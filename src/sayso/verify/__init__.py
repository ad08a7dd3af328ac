"""The verifier: it runs tools in containment to find out whether their hints are true.

    probe -> prepare -> server in a sandbox with watchers -> explore -> suspects
    -> confirm, each in a new sandbox -> judge -> report

`observe` reports the changes between two moments and judges nothing. `grade` merges the effects
that several observers saw, then grades each effect by its lifetime and owner. `grade` reads files
of the sandbox, so it runs while the sandbox exists: after each call, and again after all tools were
called, because their results show what a record is for. `judge` turns calls with graded effects
into verdicts, without I/O. A suspicion becomes evidence when `confirm` sees the same effect again
in a new sandbox, but not without the call. The shortest sequence of calls is reported.
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
