"""Running tools in containment, to show whether their hints are true."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.verify.event import Event
    from avow.verify.here import verify_here
    from avow.verify.judge.profile import Profile
    from avow.verify.run import verify
    from avow.verify.terms import Terms
    from avow.verify.verdict import HintVerdict, Report, ToolReport

__all__ = [
    "Event",
    "HintVerdict",
    "Profile",
    "Report",
    "Terms",
    "ToolReport",
    "verify",
    "verify_here",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.verify.event": ("Event",),
        "avow.verify.here": ("verify_here",),
        "avow.verify.judge.profile": ("Profile",),
        "avow.verify.run": ("verify",),
        "avow.verify.terms": ("Terms",),
        "avow.verify.verdict": ("HintVerdict", "Report", "ToolReport"),
    },
)
