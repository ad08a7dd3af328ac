"""The least that a proxy can do: bytes in, bytes out, over one kept connection for each at a time.

It is what a gateway's processor time is compared with. Usage: `python bench/forward.py PORT URL`
"""

import sys
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.types import Receive, Scope, Send

from sayso.connect.web.pool import Pool

_KEPT = ("accept", "content-type")


def make_app(url: str) -> Any:
    """Forwards every POST to `url`, with the headers of MCP, and streams what comes back."""
    pool: list[Pool] = []
    path = urlsplit(url).path

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if not pool:
            pool.append(Pool.to(url))
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        named = ((key.decode(), value.decode()) for key, value in scope["headers"])
        told = {key: one for key, one in named if key in _KEPT or key.startswith("mcp-")}
        exchange = await pool[0].exchange(scope["method"], path, told, body)
        reply = exchange.reply
        try:
            await reply.head()
            found = [
                (name.encode(), value.encode())
                for name, value in reply.headers.items()
                if name in ("content-type", "content-length", "mcp-session-id")
            ]
            start = {"type": "http.response.start", "status": reply.status, "headers": found}
            await send(start)
            while piece := await reply.piece():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            exchange.close()

    return app


def main() -> None:
    """Forward until ended."""
    app = make_app(sys.argv[2])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="warning",
        access_log=False,
        lifespan="off",
    )


if __name__ == "__main__":
    main()
