"""`avow gateway`: put the guard and the console in front of MCP servers."""

from typing import Annotated

from cyclopts import Parameter

from avow.cli.address import Options, listen
from avow.connect import parse_target


def gateway(  # noqa: PLR0913 - each is an option of its own
    *target: str,
    policy: str | None = None,
    webhook: str | None = None,
    heads: str | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8321,
    timeout: float = 60.0,
    patience: float = 45.0,
    json: bool = False,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Serve MCP servers behind one address: reads run, destructive calls wait for a person.

    Prints the address for clients and a one-time link to the console.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), or one
        entry of it (mcp.json#name). A command goes after --.
    policy
        A policy.toml. It is read again when it changes; a mistake leaves the last good one.
        Default: the mode guarded, without rules.
    webhook
        An http(s) URL to which each question is posted as JSON, with links to answer it by.
        Default: AVOW_WEBHOOK.
    heads
        A file to which the ends of the log's chain are told, for avow audit verify --heads: best
        where whoever can write the store cannot write. Default: AVOW_HEADS; without it a tail of
        the log that was cut off may go unnoticed.
    store
        Where records and approvals are kept: sqlite:PATH. Default: AVOW_STORE, or a file in your
        data directory.
    host
        A loopback address to listen on.
    port
        The port to listen on; 0 takes a free one.
    timeout
        Seconds to wait for a server.
    patience
        Seconds that a call waits for a person before it ends and can be made again.
    json
        Print the addresses as one line of JSON, and errors likewise.
    """
    words = target if command is None else [*target, *command]
    targets = parse_target(words, is_command=command is not None and not target)
    options = Options(store, host, port, timeout, patience, json, policy, webhook, heads)
    listener = listen(options)
    from avow.cli.serve import serve

    return serve(targets, options, listener)
