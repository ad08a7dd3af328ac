"""Tools, who they are and what they are called. Pure: no I/O, no SDK."""

from avow.catalog.registry import Found, Grouping, Registry, group_tools
from avow.catalog.title import derive_title
from avow.catalog.tool import (
    SEPARATOR,
    Catalog,
    Tool,
    fingerprint,
    make_catalog,
    make_tool,
    qualify,
    read_tools,
)

__all__ = [
    "SEPARATOR",
    "Catalog",
    "Found",
    "Grouping",
    "Registry",
    "Tool",
    "derive_title",
    "fingerprint",
    "group_tools",
    "make_catalog",
    "make_tool",
    "qualify",
    "read_tools",
]
