"""sayso: declare once what a tool does to the world; everything follows from it."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily
from sayso.version import __version__ as __version__

if TYPE_CHECKING:
    from sayso.agents import Guarded, Toolset, wrap
    from sayso.approvals import Approval, say_call
    from sayso.catalog import Registry, Selector, as_tool
    from sayso.errors import SaysoError
    from sayso.guard import cut_lists, safe_errors, strip_to_schema
    from sayso.intent import (
        APPEND,
        DELETE,
        DEPLOY,
        DESTRUCTIVE,
        FETCH,
        QUERY,
        READ_ONLY,
        SEARCH,
        SEND,
        UPSERT,
        WRITE,
        Hints,
        Intent,
        Level,
        Source,
    )
    from sayso.policy import Principal
    from sayso.serve import Context, Page, Result, ToolDefinition, Tools, bind, context, declare

__all__ = [
    "APPEND",
    "DELETE",
    "DEPLOY",
    "DESTRUCTIVE",
    "FETCH",
    "QUERY",
    "READ_ONLY",
    "SEARCH",
    "SEND",
    "UPSERT",
    "WRITE",
    "Approval",
    "Context",
    "Guarded",
    "Hints",
    "Intent",
    "Level",
    "Page",
    "Principal",
    "Registry",
    "Result",
    "SaysoError",
    "Selector",
    "Source",
    "ToolDefinition",
    "Tools",
    "Toolset",
    "as_tool",
    "bind",
    "context",
    "cut_lists",
    "declare",
    "safe_errors",
    "say_call",
    "strip_to_schema",
    "wrap",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.agents": ("Guarded", "Toolset", "wrap"),
        "sayso.approvals": ("Approval", "say_call"),
        "sayso.catalog": ("Registry", "Selector", "as_tool"),
        "sayso.errors": ("SaysoError",),
        "sayso.guard": ("cut_lists", "safe_errors", "strip_to_schema"),
        "sayso.intent": (
            "APPEND",
            "DELETE",
            "DEPLOY",
            "DESTRUCTIVE",
            "FETCH",
            "QUERY",
            "READ_ONLY",
            "SEARCH",
            "SEND",
            "UPSERT",
            "WRITE",
            "Hints",
            "Intent",
            "Level",
            "Source",
        ),
        "sayso.policy": ("Principal",),
        "sayso.serve": (
            "Context",
            "Page",
            "Result",
            "ToolDefinition",
            "Tools",
            "bind",
            "context",
            "declare",
        ),
    },
)


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
