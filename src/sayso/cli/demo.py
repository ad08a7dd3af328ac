"""`sayso demo`: the gateway in front of a small server with customers and invoices."""

import os
import sys
import tempfile
from pathlib import Path

from sayso.cli.address import Options, listen
from sayso.connect import CommandTarget
from sayso.store import VARIABLE


def demo(
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8321,
    patience: float | None = None,
    json: bool = False,
) -> int:
    """Serve the demo: customers and invoices to list, change and delete, behind the gateway.

    All data is made up, and deleted at the end. Two agents start to call the tools immediately, so
    the console shows a log and a question that waits for your answer.

    Parameters
    ----------
    store
        The store for records and approvals: sqlite:PATH. Default: SAYSO_STORE, or a temporary
        file.
    host
        The loopback address to listen on.
    port
        The port to listen on; 0 uses a free one.
    patience
        Seconds that a call waits for a person; then the client can repeat it. Default: 45 if the
        client requests progress, otherwise 25. Clients with a shorter timeout get less.
    json
        Print the addresses as one line of JSON, and errors as JSON.
    """
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        data = Path(folder) / "demo.db"
        server = ("-m", "sayso.demo", "--data", str(data))
        target = CommandTarget("demo", sys.executable, server, {}, None)
        kept = store or os.environ.get(VARIABLE) or f"sqlite:{Path(folder) / 'sayso.db'}"
        options = Options(kept, host, port, 60.0, patience, json)
        listener = listen(options)
        from sayso.cli.serve import serve
        from sayso.demo import visit

        return serve((target,), options, listener, lambda gateway: visit(gateway.guard))
