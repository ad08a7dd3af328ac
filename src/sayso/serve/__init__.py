"""Tool declarations for server authors, and a guard in front of all tools of a server."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.serve.binding import Tools, bind, declare
    from sayso.serve.call_context import Context, context
    from sayso.serve.definition import ToolDefinition
    from sayso.serve.frameworks import framework_of
    from sayso.serve.middleware import Middleware
    from sayso.serve.return_types import Page, Result
    from sayso.serve.runtime import Runtime, Settings


__all__ = [
    "Context",
    "Middleware",
    "Page",
    "Result",
    "Runtime",
    "Settings",
    "ToolDefinition",
    "Tools",
    "bind",
    "context",
    "declare",
    "framework_of",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.serve.binding": ("Tools", "bind", "declare"),
        "sayso.serve.call_context": ("Context", "context"),
        "sayso.serve.definition": ("ToolDefinition",),
        "sayso.serve.frameworks": ("framework_of",),
        "sayso.serve.middleware": ("Middleware",),
        "sayso.serve.return_types": ("Page", "Result"),
        "sayso.serve.runtime": ("Runtime", "Settings"),
    },
)
