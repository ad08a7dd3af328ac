"""avow: declare once what a tool does to the world; everything follows from it."""

from typing import TYPE_CHECKING

from avow.lazy import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from avow.agents import Guarded, Toolset, wrap
    from avow.approvals import Approval, say_call
    from avow.catalog import Selector
    from avow.errors import AvowError
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
    from avow.serve import Context, Page, ToolDefinition, Tools, bind, context, declare

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
    "Selector",
    "Source",
    "ToolDefinition",
    "Tools",
    "Toolset",
    "bind",
    "context",
    "declare",
    "say_call",
    "wrap",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.agents": ("Guarded", "Toolset", "wrap"),
        "avow.approvals": ("Approval", "say_call"),
        "avow.catalog": ("Selector",),
        "avow.errors": ("AvowError",),
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
