"""avow: declare once what a tool does to the world; everything follows from it."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from avow.agents import Guarded, wrap
    from avow.approvals import Approval
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
    "Source",
    "ToolDefinition",
    "Tools",
    "bind",
    "context",
    "declare",
    "wrap",
]

_SERVE = ("Context", "Page", "ToolDefinition", "Tools", "bind", "context", "declare")
_HOMES = (
    dict.fromkeys(__all__, "avow.intent")
    | dict.fromkeys(_SERVE, "avow.serve")
    | {
        "Approval": "avow.approvals",
        "AvowError": "avow.errors",
        "Guarded": "avow.agents",
        "Principal": "avow.policy",
        "wrap": "avow.agents",
    }
)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import avow` costs next to nothing."""
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module  # noqa: PLC0415 - lazy on purpose: it is the point

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, imported or not yet."""
    return sorted({*globals(), *__all__})
