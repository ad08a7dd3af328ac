"""Settings in TOML and JSON: what a file may hold, and the line of each mistake in it."""

from typing import TYPE_CHECKING

from sayso.lazy import lazily

if TYPE_CHECKING:
    from sayso.settings.document import Document, read_document
    from sayso.settings.json_file import (
        JsonFile,
        fault_of_file,
        parse_json,
        read_json,
        read_json_lines,
        read_text,
        text_of,
        type_name,
    )
    from sayso.settings.json_positions import Member, Step, locate, members, offset_of
    from sayso.settings.shape import (
        DURATION,
        Boolean,
        Choice,
        Either,
        Items,
        Json,
        Key,
        Named,
        Number,
        Report,
        Reserved,
        Schema,
        Table,
        Text,
        kind,
        nearest,
        one_or_more,
        seconds,
    )
    from sayso.settings.toml_positions import Path


__all__ = [
    "DURATION",
    "Boolean",
    "Choice",
    "Document",
    "Either",
    "Items",
    "Json",
    "JsonFile",
    "Key",
    "Member",
    "Named",
    "Number",
    "Path",
    "Report",
    "Reserved",
    "Schema",
    "Step",
    "Table",
    "Text",
    "fault_of_file",
    "kind",
    "locate",
    "members",
    "nearest",
    "offset_of",
    "one_or_more",
    "parse_json",
    "read_document",
    "read_json",
    "read_json_lines",
    "read_text",
    "seconds",
    "text_of",
    "type_name",
]

__getattr__ = lazily(
    __name__,
    {
        "sayso.settings.document": ("Document", "read_document"),
        "sayso.settings.json_file": (
            "JsonFile",
            "fault_of_file",
            "parse_json",
            "read_json",
            "read_json_lines",
            "read_text",
            "text_of",
            "type_name",
        ),
        "sayso.settings.json_positions": ("Member", "Step", "locate", "members", "offset_of"),
        "sayso.settings.shape": (
            "Boolean",
            "Choice",
            "DURATION",
            "Either",
            "Items",
            "Json",
            "Key",
            "Named",
            "Number",
            "Report",
            "Reserved",
            "Schema",
            "Table",
            "Text",
            "kind",
            "nearest",
            "one_or_more",
            "seconds",
        ),
        "sayso.settings.toml_positions": ("Path",),
    },
)
