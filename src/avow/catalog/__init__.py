"""Tools, who they are and what they are called. Pure: no I/O, no SDK."""

from typing import TYPE_CHECKING

from avow.catalog.convert import as_tool, as_tools, raw_of
from avow.catalog.title import derive_title
from avow.catalog.tool import (
    SEPARATOR,
    Catalog,
    Tool,
    fingerprint,
    make_catalog,
    make_tool,
    qualify,
    read_entry,
    read_tools,
)
from avow.lazy import lazily

if TYPE_CHECKING:
    from avow.catalog.drift import (
        Change,
        changes,
        definition_of,
        hold,
        loosens,
        mark_of,
        recall,
    )
    from avow.catalog.registry import Found, Grouping, Registry, group_tools
    from avow.catalog.select.selection import Chosen, Selection
    from avow.catalog.select.selector import Selector
    from avow.catalog.select.vectors import Embed

__all__ = [
    "SEPARATOR",
    "Catalog",
    "Change",
    "Chosen",
    "Embed",
    "Found",
    "Grouping",
    "Registry",
    "Selection",
    "Selector",
    "Tool",
    "as_tool",
    "as_tools",
    "changes",
    "definition_of",
    "derive_title",
    "fingerprint",
    "group_tools",
    "hold",
    "loosens",
    "make_catalog",
    "make_tool",
    "mark_of",
    "qualify",
    "raw_of",
    "read_entry",
    "read_tools",
    "recall",
]

__getattr__ = lazily(
    __name__,
    {
        "avow.catalog.drift": (
            "Change",
            "changes",
            "definition_of",
            "hold",
            "loosens",
            "mark_of",
            "recall",
        ),
        "avow.catalog.registry": ("Found", "Grouping", "Registry", "group_tools"),
        "avow.catalog.select.selection": ("Chosen", "Selection"),
        "avow.catalog.select.selector": ("Selector",),
        "avow.catalog.select.vectors": ("Embed",),
    },
)
