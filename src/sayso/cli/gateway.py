"""`sayso gateway`: put the guard and the console in front of MCP servers."""

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

from sayso.access import stated
from sayso.cli.address import Options, listen
from sayso.cli.options import Command, Timeout, targets_of
from sayso.errors import UsageError
from sayso.policy import LOCAL, Principal
from sayso.telemetry import LogFormat, LogLevel, set_up_logs

_PORT: Final = 8321
_STDIO_PORT: Final = 8322
"""For a gateway that a client starts: the console keeps its address, and browsers their login."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the gateway is, who may call there, and how many processes it is.

    Parameters
    ----------
    host
        An address to listen on; another than a loopback one wants --access and --public-url.
    port
        The port to listen on; 0 takes a free one. Default: 8321; with --stdio 8322, or a
        free one if that is taken.
    access
        An access.toml that says who may call: tokens of an issuer, API keys. Default: whoever is
        on this machine.
    public_url
        Where others reach the gateway, without /mcp: https://sayso.example.com. Requires --access,
        except for a URL of this machine.
    workers
        How many processes serve on the port. One that dies is started again.
    drain
        Seconds that calls may run on when sayso is told to end by SIGTERM.
    advertise
        HOST or HOST:PORT at which the other processes on the same store reach this one; with
        workers, each takes the next port. Default: this machine's address, and a free port.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    access: str | None = None
    public_url: str | None = None
    workers: int = 1
    drain: float = 20.0
    advertise: str | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Pipe:
    """Whether one client speaks over stdio, and who calls there.

    Parameters
    ----------
    stdio
        Speak MCP over standard input and output to the client that has started sayso. The console
        is served too; sayso console prints a link to it, which the client never gets.
    as_
        Who calls over --stdio. Default: local.
    scope
        A scope that the caller over --stdio has; may be given many times. With no scope and no
        role it needs none.
    role
        A role that the caller over --stdio has; may be given many times.
    """

    stdio: bool = False
    as_: Annotated[str | None, Parameter(name="--as")] = None
    scope: list[str] | None = None
    role: list[str] | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is to be seen of the gateway, and where.

    Parameters
    ----------
    metrics
        Serve metrics for Prometheus at http://127.0.0.1:PORT/metrics; HOST:PORT for others to read
        them too. Needs the extra metrics.
    otel
        Send traces and metrics by OTLP over HTTP, to where the variables of OpenTelemetry say.
        Default: where OTEL_EXPORTER_OTLP_ENDPOINT is set. Needs the extra otel.
    log_format
        How the log is written to standard error: for a person, or as a line of JSON for each event.
    log_level
        The least that is written: debug, info, warning or error. Default: warning, with JSON info.
    """

    metrics: str | None = None
    otel: bool = False
    log_format: LogFormat = LogFormat.TEXT
    log_level: LogLevel | None = None


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Kept:
    """The files and addresses that the gateway reads, and where it keeps what it records.

    Parameters
    ----------
    policy
        A policy.toml. It is read again when it changes; a mistake leaves the last good one.
        Default: guarded mode with no rules.
    receipts
        A receipt of sayso verify, or a folder of them (.json): hints that they support count, as
        far as the policy trusts their keys. Read when sayso starts.
    webhook
        An http(s) URL to which each question is posted as JSON, with links to answer it by.
        Default: SAYSO_WEBHOOK.
    heads
        A file to which the ends of the log's chain are written, for sayso audit verify --heads:
        best where whoever can write the store cannot write. Default: SAYSO_HEADS; without it a
        tail of the log that was cut off may go unnoticed.
    store
        Where records and approvals are kept: sqlite:PATH, or postgresql://USER@HOST/DATABASE for
        several machines. Default: SAYSO_STORE, or a file in your data directory.
    """

    policy: str | None = None
    receipts: str | None = None
    webhook: str | None = None
    heads: str | None = None
    store: str | None = None


_KEPT: Final = Kept()
_SHOWN: Final = Shown()
_PLACE: Final = Place()
_PIPE: Final = Pipe()


def gateway(
    *target: str,
    kept: Kept = _KEPT,
    place: Place = _PLACE,
    pipe: Pipe = _PIPE,
    shown: Shown = _SHOWN,
    timeout: Timeout = 60.0,
    patience: float | None = None,
    json: bool = False,
    command: Command = None,
) -> int:
    """Serve MCP servers behind one address: reads run, destructive calls wait for a person.

    Prints the address for clients and a one-time link to the console.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), or one
        entry of it (mcp.json#name). A command goes after --.
    patience
        Seconds that a call waits for a person before it ends and can be made again. Default: 45
        for clients that ask for progress, 25 for others, less for those known to give up sooner.
    json
        Print the addresses as one line of JSON, and errors likewise.
    """
    set_up_logs(shown.log_format, shown.log_level)
    targets = targets_of(target, command, "gateway")
    options = Options(
        policy=kept.policy,
        receipts=kept.receipts,
        webhook=kept.webhook,
        heads=kept.heads,
        store=kept.store,
        timeout=timeout,
        patience=patience,
        is_json=json,
        host=place.host,
        port=_port(place, pipe),
        access=place.access,
        public_url=place.public_url,
        principal=_caller(pipe),
        metrics=shown.metrics,
        otel=shown.otel,
        workers=place.workers,
        drain=place.drain,
        advertise=place.advertise,
        is_port_preferred=pipe.stdio and place.port is None,
    )
    listener = listen(options)
    from sayso.cli.serve import serve

    return serve(targets, options, listener)


def _port(place: Place, pipe: Pipe) -> int:
    if place.port is not None:
        return place.port
    return _STDIO_PORT if pipe.stdio else _PORT


def _caller(pipe: Pipe) -> Principal | None:
    if pipe.stdio:
        if pipe.as_ is None:
            return Principal(LOCAL)
        return stated(pipe.as_, pipe.scope or (), pipe.role or ())
    if pipe.as_ is not None or pipe.scope or pipe.role:
        what = "over HTTP nobody is who an option says"
        raise UsageError(what, where="--as", fix="Say it together with --stdio.")
    return None
