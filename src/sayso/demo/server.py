"""The demo server, bound with the MCP SDK: `python -m sayso.demo.server [--data FILE]`."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from sayso.demo.customers import declare_customers
from sayso.demo.data import Database, open_database
from sayso.demo.invoices import declare_invoices
from sayso.demo.maintenance import declare_maintenance
from sayso.demo.process import add_data_option, leave_on_signals
from sayso.demo.prompts import add_prompts
from sayso.demo.resources import add_resources
from sayso.demo.web import declare_web
from sayso.errors import SaysoError
from sayso.policy import LOCAL, Policy, Principal
from sayso.serve import bind
from sayso.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS: Final = """\
The customers and invoices of a small design studio. Amounts are in cents of a euro.
Deleting a customer and sending an invoice cannot be undone.
"""

SCOPES: Final = ("customers.read", "customers.write")
ALONE: Final[dict[str, Any]] = {
    # Over stdio there is one user, who may do everything and answers questions.
    "principal": Principal(LOCAL),
    "policy": Policy(channels=frozenset({"elicitation"})),
    "store": "temporary",
}


def build_server(
    database: Database, *, pace: float = 0.0, asks: bool = False, **bound: Any
) -> "MCPServer[Any]":
    """Return the server over `database`; a migration pauses `pace` seconds after each step.

    It asks only if `asks` is true: behind a gateway, the gateway asks. `bound` are further
    arguments of `sayso.bind`.

    >>> from sayso.demo.data import open_database
    >>> with open_database() as database:
    ...     build_server(database).name
    'sayso-demo'
    """
    from mcp.server import MCPServer  # noqa: PLC0415 - an extra

    server: MCPServer[Any] = MCPServer(
        "sayso-demo",
        title="Studio customers and invoices",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
    )
    tools = bind(server, asks=asks, scopes=SCOPES, **{**ALONE, **bound})
    declare_customers(tools, database)
    declare_invoices(tools, database)
    declare_web(tools)
    declare_maintenance(tools, database, pace=pace)
    add_resources(server, database)
    add_prompts(server, database)
    return server


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve on stdin and stdout until stdin ends, and return the exit code."""
    options = _read_options(arguments)
    try:
        with ExitStack() as stack:
            leave_on_signals(stack)
            database = stack.enter_context(open_database(options.data))
            folder = stack.enter_context(TemporaryDirectory(prefix="sayso-demo-"))
            store = options.store or f"sqlite:{folder}/sayso.db"
            server = build_server(database, pace=options.pace, asks=options.asks, store=store)
            server.run("stdio")
    except SaysoError as error:
        sys.stderr.write(f"sayso.demo.server: {error}\n")
        return error.exit_code
    return 0


def _read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sayso.demo.server", description=__doc__)
    add_data_option(parser)
    parser.add_argument(
        "--pace",
        type=float,
        metavar="SECONDS",
        default=0.0,
        help="pause after each step of a migration, so that it can be watched",
    )
    parser.add_argument(
        "--asks",
        action="store_true",
        help="ask through the client before destructive calls; not needed behind a gateway",
    )
    parser.add_argument(
        "--store",
        metavar="URL",
        default=None,
        help="the store for records and approvals, such as sqlite:PATH (default: temporary)",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
