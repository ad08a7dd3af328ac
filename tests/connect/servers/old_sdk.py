"""`old_sdk.py MODE`: a stand-in for servers on an SDK that knows no `server/discover`.

It does what `mcp` 1.6 does: the unknown method fails validation, and what is left of the server
answers nothing (`hangs`) or has ended (`dies`). Before that it prints a plain line to stdout, as
`chroma-mcp` does, and one more with each answer. In the mode `broken` it fails in any case.
"""

import json
import sys
import time
from typing import Any

TRACE = """\
2025-04-01 12:00:00 INFO starting
  + Exception Group Traceback (most recent call last):
  |   File "/site-packages/mcp/shared/session.py", line 332, in _receive_loop
  |     validated_request = self._receive_request_type.model_validate(
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/site-packages/pydantic/main.py", line 700, in model_validate
    |     return cls.__pydantic_validator__.validate_python(
    | pydantic_core._pydantic_core.ValidationError: 22 validation errors for ClientRequest
    | PingRequest.method
    |   Input should be 'ping' [type=literal_error, input_value='server/discover', input_type=str]
    |     For further information visit https://errors.pydantic.dev/2.11/v/literal_error
    +------------------------------------
"""
BROKEN = """\
Traceback (most recent call last):
  File "/app/server.py", line 12, in <module>
    main()
  File "/app/server.py", line 8, in main
    raise RuntimeError("CHROMA_API_KEY is not set")
RuntimeError: CHROMA_API_KEY is not set
"""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def send(number: Any, result: dict[str, Any]) -> None:
    say("Successfully initialized a client")
    say(json.dumps({"level": "info", "note": "JSON that is no message"}))
    say(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}))


def main(mode: str) -> None:
    say("Welcome to a plain line")
    for line in sys.stdin:
        message = json.loads(line)
        match message["method"]:
            case "server/discover":
                sys.stderr.write(TRACE)
                sys.stderr.flush()
                if mode == "hangs":
                    time.sleep(600)
                sys.exit(1)
            case "initialize" if mode == "broken":
                sys.stderr.write(BROKEN)
                sys.exit(1)
            case "initialize":
                server = {"name": "old", "version": "1"}
                about = {"protocolVersion": "2024-11-05", "serverInfo": server}
                send(message["id"], {**about, "capabilities": {"tools": {}}})
            case "tools/list":
                tool = {"name": "get_old", "inputSchema": {"type": "object"}}
                send(message["id"], {"tools": [tool]})
            case _:
                pass


if __name__ == "__main__":
    main(sys.argv[1])
