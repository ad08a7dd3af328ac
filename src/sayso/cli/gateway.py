"""`sayso gateway`: put the guard and the console in front of MCP servers."""

from dataclasses import dataclass
from typing import Annotated, Final

from sayso.access import stated
from sayso.cli.address import Options, listen
from sayso.cli.commands import option
from sayso.cli.options import Command, Timeout, targets_of
from sayso.errors import UsageError
from sayso.policy import LOCAL, Principal
from sayso.telemetry import LogFormat, LogLevel, set_up_logs

_PORT: Final = 8321
_STDIO_PORT: Final = 8322
"""A fixed port for gateways that a client starts, so that browsers stay logged in."""


@dataclass(frozen=True, kw_only=True)
class ListenOptions:
    """The gateway's address, its callers and its processes.

    Parameters
    ----------
    host
        The address to listen on. An address that is not loopback requires --access and
        --public-url.
    port
        The port to listen on; 0 uses a free one. Default: 8321. Default with --stdio: 8322, or a
        free port if 8322 is taken.
    access
        An access.toml with the tokens and API keys to accept. Default: only this machine may
        call, without authentication.
    public_url
        The URL that clients use, without /mcp: https://sayso.example.com. Requires --access,
        except for a URL of this machine.
    workers
        Number of processes that serve the port. A process that dies is restarted.
    drain
        Seconds that running calls may take after SIGTERM.
    advertise
        HOST or HOST:PORT at which other gateways on the same store reach this one. Each worker
        uses the next port. Default: this machine's address, and a free port.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    access: str | None = None
    public_url: str | None = None
    workers: int = 1
    drain: float = 20.0
    advertise: str | None = None


@dataclass(frozen=True, kw_only=True)
class StdioOptions:
    """The client over stdio, and its principal.

    Parameters
    ----------
    stdio
        Speak MCP over standard input and output with the client that started sayso. The console
        is served too. Run sayso console to log in; the client never gets a login link.
    as_
        Subject of the caller over --stdio. Default: local.
    scope
        Scope of the caller over --stdio; repeatable. Without --scope and --role, none are checked.
    role
        Role of the caller over --stdio; repeatable.
    """

    stdio: bool = False
    as_: Annotated[str | None, option("--as")] = None
    scope: list[str] | None = None
    role: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class TelemetryOptions:
    """Metrics, traces and logs.

    Parameters
    ----------
    metrics
        PORT or HOST:PORT. Serve Prometheus metrics at http://HOST:PORT/metrics; the default HOST
        is 127.0.0.1. Requires the extra metrics.
    otel
        Send traces and metrics by OTLP over HTTP. OTEL_* variables configure it. Default: on if
        OTEL_EXPORTER_OTLP_ENDPOINT is set. Requires the extra otel.
    log_format
        Format of the log on standard error: text, or json (one object per line).
    log_level
        Minimum severity of logged messages: debug, info, warning or error. Default: warning, and
        info with --log-format json.
    """

    metrics: str | None = None
    otel: bool = False
    log_format: LogFormat = LogFormat.TEXT
    log_level: LogLevel | None = None


@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """The files that the gateway reads, and the store for its records.

    Parameters
    ----------
    policy
        A policy.toml. The gateway reloads the file when it changes. While the file is invalid, the
        last valid version applies. Default: guarded mode with no rules.
    receipts
        A receipt of sayso verify, or a folder of receipts (.json). A hint that a receipt supports
        counts if the policy trusts the receipt's key. Read once, at the start.
    webhook
        An http(s) URL that gets each question as JSON, with links to answer it. Default:
        SAYSO_WEBHOOK.
    heads
        The gateway writes the heads of the log's chains to this file, for sayso audit verify
        --heads. Accounts that can write to the store should not be able to write to the file.
        Without this file, a log cut off at the end may go unnoticed. Default: SAYSO_HEADS.
    store
        The store for records and approvals: sqlite:PATH, or postgresql://USER@HOST/DATABASE for
        several machines. Default: SAYSO_STORE, or a file in your data directory.
    """

    policy: str | None = None
    receipts: str | None = None
    webhook: str | None = None
    heads: str | None = None
    store: str | None = None


_STORE: Final = StoreOptions()
_TELEMETRY: Final = TelemetryOptions()
_LISTEN: Final = ListenOptions()
_PIPE: Final = StdioOptions()


def gateway(
    *target: str,
    storage: StoreOptions = _STORE,
    place: ListenOptions = _LISTEN,
    pipe: StdioOptions = _PIPE,
    telemetry: TelemetryOptions = _TELEMETRY,
    timeout: Timeout = 60.0,
    patience: float | None = None,
    json: bool = False,
    command: Command = None,
) -> int:
    """Serve MCP servers at one address: reads run, destructive calls wait for a person.

    Prints the address for clients and a single-use link to the console.

    Parameters
    ----------
    target
        server.py or server.py:object, an http(s) URL, a client's configuration (mcp.json), or one
        entry of it (mcp.json#name). A command goes after --.
    patience
        Seconds that a call waits for a person; then the client can repeat it. Default: 45 if the
        client requests progress, otherwise 25. Clients with a shorter timeout get less.
    json
        Print the addresses as one line of JSON, and errors as JSON.
    """
    set_up_logs(telemetry.log_format, telemetry.log_level)
    targets = targets_of(target, command, "gateway")
    options = Options(
        policy=storage.policy,
        receipts=storage.receipts,
        webhook=storage.webhook,
        heads=storage.heads,
        store=storage.store,
        timeout=timeout,
        patience=patience,
        is_json=json,
        host=place.host,
        port=_port(place, pipe),
        access=place.access,
        public_url=place.public_url,
        principal=_caller(pipe),
        metrics=telemetry.metrics,
        otel=telemetry.otel,
        workers=place.workers,
        drain=place.drain,
        advertise=place.advertise,
        is_port_preferred=pipe.stdio and place.port is None,
    )
    listener = listen(options)
    from sayso.cli.serve import serve

    return serve(targets, options, listener)


def _port(place: ListenOptions, pipe: StdioOptions) -> int:
    if place.port is not None:
        return place.port
    return _STDIO_PORT if pipe.stdio else _PORT


def _caller(pipe: StdioOptions) -> Principal | None:
    if pipe.stdio:
        if pipe.as_ is None:
            return Principal(LOCAL)
        return stated(pipe.as_, pipe.scope or (), pipe.role or ())
    for name, value in (("--as", pipe.as_), ("--scope", pipe.scope), ("--role", pipe.role)):
        if value is not None:
            fix = "Over HTTP the caller is identified by its token."
            raise UsageError("requires --stdio", where=name, fix=fix)
    return None
