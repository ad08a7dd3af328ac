"""JSON documents that are safe to show in a terminal."""

import json
from collections.abc import Mapping
from typing import Any


def write_json_document(document: Mapping[str, Any]) -> str:
    """Return a document as deterministic JSON in printable ASCII, which is safe in a terminal."""
    return json.dumps(document, indent=2, default=str).replace("\x7f", "\\u007f") + "\n"
