"""`avow gateway`: put the guard and the console in front of MCP servers."""

from typing import Annotated, Final

from cyclopts import Parameter

from avow.cli.address import Options, listen
from avow.connect import parse_target
from avow.errors import UsageError
from avow.policy import LOCAL, Principal

_PORT: Final = 8321


def gateway(  # noqa: PLR0913 - each is an option of its own
    *target: str,
    policy: str | None = None,
    webhook: str | None = None,
    heads: str | None = None,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    stdio: bool = False,
    as_: Annotated[str | None, Parameter(name="--as")] = None,
    scope: list[str] | None = None,
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
        The port to listen on; 0 takes a free one. Default: 8321, or a free one with --stdio.
    stdio
        Speak MCP over standard input and output to the client that has started avow. The console
        is served as ever; its link goes to standard error.
    as_
        Who calls over --stdio. Default: local.
    scope
        A scope that the caller over --stdio has; may be given many times. Without one it sees all.
    timeout
        Seconds to wait for a server.
    patience
        Seconds that a call waits for a person before it ends and can be made again.
    json
        Print the addresses as one line of JSON, and errors likewise.
    """
    words = target if command is None else [*target, *command]
    targets = parse_target(words, is_command=command is not None and not target)
    port = (0 if stdio else _PORT) if port is None else port
    caller = _caller(as_, scope, is_stdio=stdio)
    options = Options(store, host, port, timeout, patience, json, policy, webhook, heads, caller)
    listener = listen(options)
    from avow.cli.serve import serve

    return serve(targets, options, listener)


def _caller(name: str | None, scopes: list[str] | None, *, is_stdio: bool) -> Principal | None:
    """Who calls over stdio, where nothing else can say so."""
    if not is_stdio:
        if name is not None or scopes is not None:
            what = "over HTTP nobody is who an option says"
            raise UsageError(what, where="--as", fix="Say it together with --stdio.")
        return None
    if name is not None and not name.strip():
        raise UsageError("a caller has a name", where="--as")
    known = None if scopes is None else frozenset(scopes)
    return Principal(name or LOCAL, scopes=known, is_local=True)
