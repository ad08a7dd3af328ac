"""The pipeline that every call takes. The server library, the gateway and the console run it."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.errors import UnknownToolError
    from avow.guard.call import Answer, Call, Through, tool_error
    from avow.guard.ending import Ending
    from avow.guard.explain import explain_call
    from avow.guard.loop import cut_lists, safe_errors, strip_to_schema
    from avow.guard.pipeline import STEPS, Guard, keep_quiet, new_id, unruled
    from avow.guard.raw import opened
    from avow.guard.rules import PolicyFile

__all__ = [
    "STEPS",
    "Answer",
    "Call",
    "Ending",
    "Guard",
    "PolicyFile",
    "Through",
    "UnknownToolError",
    "cut_lists",
    "explain_call",
    "keep_quiet",
    "new_id",
    "opened",
    "safe_errors",
    "strip_to_schema",
    "tool_error",
    "unruled",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.errors": ("UnknownToolError",),
        "avow.guard.call": ("Answer", "Call", "Through", "tool_error"),
        "avow.guard.ending": ("Ending",),
        "avow.guard.explain": ("explain_call",),
        "avow.guard.loop": ("cut_lists", "safe_errors", "strip_to_schema"),
        "avow.guard.pipeline": ("Guard", "STEPS", "keep_quiet", "new_id", "unruled"),
        "avow.guard.raw": ("opened",),
        "avow.guard.rules": ("PolicyFile",),
    },
)
