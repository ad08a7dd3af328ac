"""avow: declare once what a tool does to the world; everything follows from it."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from avow.agents import Guarded, Toolset, wrap
    from avow.approvals import Approval, say_call
    from avow.catalog import Registry, Selector, as_tool
    from avow.errors import AvowError
    from avow.guard import cut_lists, safe_errors, strip_to_schema
    from avow.intent import (
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
    from avow.policy import Principal
    from avow.serve import Context, Page, Result, ToolDefinition, Tools, bind, context, declare

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
    "AvowError",
    "Context",
    "Guarded",
    "Hints",
    "Intent",
    "Level",
    "Page",
    "Principal",
    "Registry",
    "Result",
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
        "avow.agents": ("Guarded", "Toolset", "wrap"),
        "avow.approvals": ("Approval", "say_call"),
        "avow.catalog": ("Registry", "Selector", "as_tool"),
        "avow.errors": ("AvowError",),
        "avow.guard": ("cut_lists", "safe_errors", "strip_to_schema"),
        "avow.intent": (
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
        "avow.policy": ("Principal",),
        "avow.serve": (
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
    """The public names, imported or not yet."""
    return sorted({*globals(), *__all__})
