"""The demo server: `python -m avow.demo.server [--data FILE]` serves it on stdin and stdout."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any, Final

from mcp.server import MCPServer

import avow
from avow.demo.customers import customer_tools
from avow.demo.data import Database, open_database
from avow.demo.invoices import invoice_tools
from avow.demo.maintenance import maintenance_tools
from avow.demo.prompts import add_prompts
from avow.demo.resources import add_resources
from avow.demo.web import web_tools
from avow.errors import AvowError

DATA_VARIABLE: Final = "AVOW_DEMO_DATA"

INSTRUCTIONS: Final = """\
The customers and invoices of a small design studio. Amounts are in cents of a euro.
A deleted customer and a sent invoice cannot be had back.
"""


def build_server(database: Database, *, pace: float = 0.0) -> MCPServer[Any]:
    """The server over `database`; a migration rests `pace` seconds after each step.

    >>> from avow.demo.data import open_database
    >>> with open_database() as database:
    ...     build_server(database).name
    'avow-demo'
    """
    server: MCPServer[Any] = MCPServer(
        "avow-demo",
        title="Studio customers and invoices",
        instructions=INSTRUCTIONS,
        version=avow.__version__,
        tools=[
            *customer_tools(database),
            *invoice_tools(database),
            *web_tools(),
            *maintenance_tools(database, pace=pace),
        ],
        log_level="WARNING",
    )
    add_resources(server, database)
    add_prompts(server, database)
    return server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve on stdin and stdout until stdin ends; the exit code says why it could not be."""
    options = _read_options(arguments)
    try:
        with ExitStack() as stack:
            _leave_on_signals(stack)
            database = stack.enter_context(open_database(options.data))
            build_server(database, pace=options.pace).run("stdio")
    except AvowError as error:
        sys.stderr.write(f"avow.demo.server: {error}\n")
        return error.exit_code
    return 0


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m avow.demo.server", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        default=os.environ.get(DATA_VARIABLE) or None,
        help=f"the SQLite file to use, made if there is none ({DATA_VARIABLE}; else a fresh one)",
    )
    parser.add_argument(
        "--pace",
        type=float,
        metavar="SECONDS",
        default=0.0,
        help="how long a migration rests after each step, so that it can be watched",
    )
    return parser.parse_args(arguments)


def _leave_on_signals(stack: ExitStack) -> None:
    """Close what is on `stack` and end at once when a signal says so.

    The SDK's thread that reads stdin cannot be interrupted: an ordinary exit would wait for the
    next line. A transaction that is open is rolled back by SQLite when the file is next opened.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        stack.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


if __name__ == "__main__":
    sys.exit(main())
