"""`changing.py FILE`: a stdio server whose tools stand in a file, and are what that says now.

It says that its list has changed, with its next answer, when the file has.
"""

import json
import sys
from pathlib import Path
from typing import Any

VERSION = "2025-11-25"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main(path: Path) -> None:
    told = path.read_text()
    for line in sys.stdin:
        message = json.loads(line)
        number, method = message.get("id"), message.get("method")
        if method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "c", "version": "1"}}
            send({"id": number, "result": {"protocolVersion": VERSION, **about}})
        elif method == "tools/list":
            told = path.read_text()
            send({"id": number, "result": {"tools": json.loads(told)}})
        elif method == "tools/call":
            if path.read_text() != told:
                send({"method": "notifications/tools/list_changed"})
            send({"id": number, "result": {"content": [{"type": "text", "text": "done"}]}})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
