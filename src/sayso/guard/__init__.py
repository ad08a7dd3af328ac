"""The pipeline that every call goes through, in the server library, the gateway and the console."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.errors import UnknownToolError
    from sayso.guard.active_calls import ActiveCalls
    from sayso.guard.call import (
        META_APPROVAL,
        META_KEY,
        META_OUTCOME,
        Answer,
        Call,
        CallRequest,
        CrashError,
        Execute,
        Progress,
        Resume,
        Through,
        lost_answer,
        new_id,
        no_progress,
        tool_changed,
        tool_error,
    )
    from sayso.guard.context import FindTool, keep_quiet, unruled
    from sayso.guard.large_arguments import digest_of
    from sayso.guard.meta import LOG_LEVEL, protocol_params
    from sayso.guard.ordering import CallQueue, Turn
    from sayso.guard.own_meta import remove_own_meta, without_own_meta
    from sayso.guard.passthrough import opened
    from sayso.guard.pipeline import STEPS, Guard, compose_guard
    from sayso.guard.policy_file import PolicyFile
    from sayso.guard.sanitizers import cut_lists, safe_errors, strip_to_schema
    from sayso.guard.schemas import ToolSchemas, is_json_text, with_structure
    from sayso.guard.shutdown import Shutdown
    from sayso.guard.steps.confirm import denial
    from sayso.guard.steps.decide import explain_call
    from sayso.guard.steps.output import as_task, checked, withheld


__all__ = [
    "LOG_LEVEL",
    "META_APPROVAL",
    "META_KEY",
    "META_OUTCOME",
    "STEPS",
    "ActiveCalls",
    "Answer",
    "Call",
    "CallQueue",
    "CallRequest",
    "CrashError",
    "Execute",
    "FindTool",
    "Guard",
    "PolicyFile",
    "Progress",
    "Resume",
    "Shutdown",
    "Through",
    "ToolSchemas",
    "Turn",
    "UnknownToolError",
    "as_task",
    "checked",
    "compose_guard",
    "cut_lists",
    "denial",
    "digest_of",
    "explain_call",
    "is_json_text",
    "keep_quiet",
    "lost_answer",
    "new_id",
    "no_progress",
    "opened",
    "protocol_params",
    "remove_own_meta",
    "safe_errors",
    "strip_to_schema",
    "tool_changed",
    "tool_error",
    "unruled",
    "with_structure",
    "withheld",
    "without_own_meta",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.errors": ("UnknownToolError",),
        "sayso.guard.active_calls": ("ActiveCalls",),
        "sayso.guard.call": (
            "Answer",
            "Call",
            "CallRequest",
            "CrashError",
            "Execute",
            "META_APPROVAL",
            "META_KEY",
            "META_OUTCOME",
            "Progress",
            "Resume",
            "Through",
            "lost_answer",
            "new_id",
            "no_progress",
            "tool_changed",
            "tool_error",
        ),
        "sayso.guard.context": ("FindTool", "keep_quiet", "unruled"),
        "sayso.guard.meta": ("LOG_LEVEL", "protocol_params"),
        "sayso.guard.large_arguments": ("digest_of",),
        "sayso.guard.sanitizers": ("cut_lists", "safe_errors", "strip_to_schema"),
        "sayso.guard.ordering": ("CallQueue", "Turn"),
        "sayso.guard.own_meta": ("remove_own_meta", "without_own_meta"),
        "sayso.guard.passthrough": ("opened",),
        "sayso.guard.pipeline": ("Guard", "STEPS", "compose_guard"),
        "sayso.guard.policy_file": ("PolicyFile",),
        "sayso.guard.schemas": ("ToolSchemas", "is_json_text", "with_structure"),
        "sayso.guard.shutdown": ("Shutdown",),
        "sayso.guard.steps.confirm": ("denial",),
        "sayso.guard.steps.decide": ("explain_call",),
        "sayso.guard.steps.output": ("as_task", "checked", "withheld"),
    },
)
