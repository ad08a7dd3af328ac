"""A server whose tools a test can change while it runs."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.connect.serving import SERVERS

from sayso.connect import CommandTarget

READS: dict[str, Any] = {"readOnlyHint": True, "openWorldHint": False}
WRITES: dict[str, Any] = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
DESTROYS: dict[str, Any] = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}


def entry(annotations: dict[str, Any], name: str = "note", **more: Any) -> dict[str, Any]:
    """One tool of its list."""
    return {
        "name": name,
        "inputSchema": {"type": "object"},
        "annotations": annotations,
        **more,
    }


@dataclass(frozen=True)
class Changing:
    """The server, and the file that says what its tools are."""

    path: Path

    @property
    def target(self) -> CommandTarget:
        """Return the target that starts it."""
        program = str(SERVERS / "changing.py")
        return CommandTarget("c", sys.executable, (program, str(self.path)))

    def say(self, *tools: dict[str, Any]) -> None:
        """Have it list these tools from now on."""
        self.path.write_text(json.dumps(tools))
