"""The API's own description (OpenAPI 3.1), which is also what it holds requests to."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from sayso.workers import BoundedChecker

_FILE: Final = Path(__file__).with_name("openapi.json")


@cache
def document() -> dict[str, Any]:
    """All of it, as it stands beside this file."""
    return json.loads(_FILE.read_bytes())


@cache
def checker_of(name: str) -> BoundedChecker:
    """What holds a value to the schema of this name."""
    components = document()["components"]
    return BoundedChecker({"$ref": f"#/components/schemas/{name}", "components": components})
