"""How long a repeated `tools/list` of thousands of tools takes, against sending its bytes.

A gateway stands in front of a server with 5,000 tools. Measured is the time on the event loop from
a request to the bytes of its response, for both eras of the protocol; the yardstick, in the same
run, is to send those bytes through a pair of connected sockets. Exits with 1 when a list takes
longer than that.

Usage: `python bench/listing.py [--tools N] [--rounds N] [--json]`, with the Python of `.venv`.
"""

import argparse
import asyncio
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sayso.connect import CommandTarget
from sayso.connect.message import Message
from sayso.gateway import make_dispatcher, open_gateway
from sayso.gateway.frontends.client import Client
from sayso.gateway.frontends.dispatcher import Dispatcher
from sayso.policy import LOCAL, Principal
from sayso.store import open_store

TOOLS = 5000
ROUNDS = 15
VERSIONS = ("2026-07-28", "2025-06-18")

SERVER = """
import json, sys
tools = [
    {"name": f"customer_{n}_update", "title": f"Update customer field {n}",
     "description": "Change one field of a customer, and say what it was before. " * 3,
     "inputSchema": {"type": "object", "properties": {
         "customer_id": {"type": "integer", "description": "Who"},
         "value": {"type": "string", "description": "What it is from now on"}}},
     "annotations": {"readOnlyHint": False, "destructiveHint": n % 2 == 0}}
    for n in range(int(sys.argv[1]))]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "many", "version": "1"}}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": tools}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
"""


class Result(NamedTuple):
    """Medians in milliseconds: the first list, a repeated one, and sending its bytes."""

    version: str
    megabytes: float
    first_ms: float
    repeated_ms: float
    sending_ms: float
    is_met: bool


async def listed(dispatcher: Dispatcher, version: str) -> tuple[bytes, float]:
    """Ask for the list; return the response, and how many milliseconds it took."""
    message = Message("2.0", 1, "tools/list")
    client = Client(Principal(LOCAL, client="bench"), version)
    began = time.perf_counter()
    told = await dispatcher.answer(message, {}, client, Line())
    return told.body, (time.perf_counter() - began) * 1000


class Line:
    """The way back to a client that wants nothing but its answer."""

    listener = None
    owner = None

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Take nothing."""

    def tell(self, method: str, params: Mapping[str, Any]) -> None:
        """Take nothing."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer nothing."""
        del method, params
        return {}


def sending(body: bytes) -> float:
    """Send bytes to another thread, and return how many milliseconds that took."""
    here, there = socket.socketpair()

    def take() -> None:
        left = len(body)
        while left:
            left -= len(there.recv(1 << 20))

    with here, there:
        taker = threading.Thread(target=take)
        taker.start()
        began = time.perf_counter()
        here.sendall(body)
        taker.join()
        return (time.perf_counter() - began) * 1000


async def measure(folder: Path, tools: int, rounds: int) -> list[Result]:
    """Ask for the list of each era, `rounds` times."""
    store = open_store(f"sqlite:{folder / 'sayso.db'}")
    target = CommandTarget("many", sys.executable, ("-c", SERVER, str(tools)), {})
    results: list[Result] = []
    async with open_gateway([target], store, timeout=120.0) as gateway:
        await gateway.upstreams.upstreams[0].tools()
        dispatcher = make_dispatcher(gateway)
        for version in VERSIONS:
            body, first = await listed(dispatcher, version)
            repeated: list[float] = []
            sent: list[float] = []
            for _ in range(rounds):
                again, took = await listed(dispatcher, version)
                assert len(again) == len(body)  # noqa: S101 - else something else was measured
                repeated.append(took)
                sent.append(sending(body))
            took, yardstick = statistics.median(repeated), statistics.median(sent)
            megabytes = len(body) / 1e6
            results.append(Result(version, megabytes, first, took, yardstick, took <= yardstick))
    await store.close()
    return results


def main() -> int:
    """Measure, print, and return 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tools", type=int, default=TOOLS, help="how many tools are listed")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    if options.rounds < 1 or options.tools < 1:
        parser.error("--rounds and --tools must be at least 1")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        results = asyncio.run(measure(Path(folder), options.tools, options.rounds))
    if options.json:
        print(json.dumps({"schema": 1, "results": [one._asdict() for one in results]}, indent=2))
    else:
        print(f"{'version':<14}{'MB':>6}{'first':>11}{'repeated':>11}{'sending':>11}")
        for one in results:
            word = "met" if one.is_met else "MISSED"
            times = f"{one.first_ms:>8.1f} ms{one.repeated_ms:>8.2f} ms{one.sending_ms:>8.2f} ms"
            print(f"{one.version:<14}{one.megabytes:>6.1f}{times}  {word}")
    return 0 if all(one.is_met for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
