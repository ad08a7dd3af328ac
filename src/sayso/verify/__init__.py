"""The verifier: runs tools in containment to find out whether their hints are true."""

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
