"""`whole.py JOURNAL [NAME]`: a stand-in that answers every method of the handshake eras.

It speaks raw JSON lines, marks each answer with `MARK`, and writes each method that it hears into
the file JOURNAL. Its tool `shout` sends every kind of notification, and `ask` asks its client.
"""

import json
import sys
from pathlib import Path
from typing import Any

MARK = "MARK-of-the-server"
URI = "whole://mark"

CAPABILITIES: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "completions": {},
    "logging": {},
}
FORM = {"message": MARK, "requestedSchema": {"type": "object", "properties": {}}}
SHOUTED: list[tuple[str, dict[str, Any]]] = [
    ("notifications/tools/list_changed", {}),
    ("notifications/prompts/list_changed", {}),
    ("notifications/resources/list_changed", {}),
    ("notifications/resources/updated", {"uri": URI}),
    ("notifications/message", {"level": "error", "data": MARK}),
]
READS = {"readOnlyHint": True, "openWorldHint": False}


def results(name: str) -> dict[str, dict[str, Any]]:
    """The result of each method."""
    schema = {"type": "object"}
    content = [{"type": "text", "text": MARK}]
    message = {"role": "user", "content": content[0]}
    return {
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": CAPABILITIES,
            "serverInfo": {"name": name, "version": "1", "title": f"{MARK} title"},
            "instructions": f"{MARK} of {name}: be kind.",
        },
        "tools/list": {
            "tools": [
                {"name": one, "description": MARK, "inputSchema": schema, "annotations": READS}
                for one in ("get_mark", "shout", "ask")
            ]
        },
        "tools/call": {"content": content},
        "prompts/list": {"prompts": [{"name": "mark", "description": MARK}]},
        "prompts/get": {"description": MARK, "messages": [message]},
        "resources/list": {"resources": [{"name": MARK, "uri": URI}]},
        "resources/templates/list": {
            "resourceTemplates": [{"name": MARK, "uriTemplate": "whole://of/{id}"}]
        },
        "resources/read": {"contents": [{"uri": URI, "text": MARK}]},
        "completion/complete": {"completion": {"values": [MARK]}},
        "tasks/get": {"taskId": MARK, "status": MARK},
        "tasks/update": {"status": MARK},
        "tasks/cancel": {"status": MARK},
    }


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main(journal: Path, name: str) -> None:
    answers = results(name)
    said = journal.with_suffix(".instructions")
    if said.exists():
        answers["initialize"]["instructions"] = said.read_text(encoding="utf-8")
    asking: Any = None
    for line in sys.stdin:
        message = json.loads(line)
        with journal.open("a") as file:
            file.write(message.get("method", "answer") + "\n")
        if "method" not in message:
            send(id=asking, result=answers["tools/call"])
        elif message["method"] == "server/discover":
            send(id=message["id"], error={"code": -32601, "message": "Method not found"})
        elif "id" in message:
            tool = message.get("params", {}).get("name")
            if tool == "shout":
                for method, params in SHOUTED:
                    send(method=method, params=params)
            if tool == "ask":
                asking = message["id"]
                send(id="asked", method="elicitation/create", params=FORM)
                continue
            send(id=message["id"], result=answers.get(message["method"], {}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "whole")
