"""Tools: their identity, names, changes, search and selection. Pure: no I/O, no SDK."""

from typing import TYPE_CHECKING

from sayso.catalog.convert import as_tool, as_tools, raw_of
from sayso.catalog.title import derive_title
from sayso.catalog.tool import (
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
from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.catalog.drift import (
        Change,
        changes,
        definition_of,
        hold,
        loosens,
        mark_of,
        restore_tool,
    )
    from sayso.catalog.registry import Registry, SearchPage
    from sayso.catalog.select.entry import Entry, index_entry
    from sayso.catalog.select.selection import Chosen, Selection
    from sayso.catalog.select.selector import Selector
    from sayso.catalog.tokens import estimate
    from sayso.catalog.words import word_list, words_of


__all__ = [
    "SEPARATOR",
    "Catalog",
    "Change",
    "Chosen",
    "Entry",
    "Registry",
    "SearchPage",
    "Selection",
    "Selector",
    "Tool",
    "as_tool",
    "as_tools",
    "changes",
    "definition_of",
    "derive_title",
    "estimate",
    "fingerprint",
    "hold",
    "index_entry",
    "loosens",
    "make_catalog",
    "make_tool",
    "mark_of",
    "qualify",
    "raw_of",
    "read_entry",
    "read_tools",
    "restore_tool",
    "word_list",
    "words_of",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.catalog.drift": (
            "Change",
            "changes",
            "definition_of",
            "hold",
            "loosens",
            "mark_of",
            "restore_tool",
        ),
        "sayso.catalog.registry": ("SearchPage", "Registry"),
        "sayso.catalog.select.entry": ("Entry", "index_entry"),
        "sayso.catalog.select.selection": ("Chosen", "Selection"),
        "sayso.catalog.select.selector": ("Selector",),
        "sayso.catalog.tokens": ("estimate",),
        "sayso.catalog.words": ("word_list", "words_of"),
    },
)
