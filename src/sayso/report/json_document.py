"""JSON for programs that may still be shown in a terminal."""

import json
from collections.abc import Mapping
from typing import Any


def write_json_document(document: Mapping[str, Any]) -> str:
    """Return a document as JSON, the same bytes for the same document.

    Only printable ASCII, so that nothing in it can steer a terminal.
    """
    return json.dumps(document, indent=2, default=str).replace("\x7f", "\\u007f") + "\n"
