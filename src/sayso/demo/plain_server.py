"""The demo server over stdio without the MCP SDK: `python -m sayso.demo [--data FILE]`.

`sayso demo` starts it, because the SDK with its dependencies weighs 25 MB. It runs the same tools
as `sayso.demo.server`, and takes their schemas from `lists.json`, which `make metadata` writes. It
speaks the versions of the protocol with a handshake, up to 2025-11-25.
"""

import argparse
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

from sayso.connect import (
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LATEST_HANDSHAKE,
    LISTS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    Id,
    Message,
    RpcError,
    read_message,
    read_object,
    write_error,
    write_notification,
    write_result,
)
from sayso.demo.customers import CustomerTools
from sayso.demo.data import Database, open_database
from sayso.demo.invoices import InvoiceTools, unpaid_invoices
from sayso.demo.maintenance import MaintenanceTools
from sayso.demo.migration import CancelledMigrationError, Progress
from sayso.demo.process import add_data_option, leave_on_signals
from sayso.demo.prompts import MOST_COMPLETIONS, complete_argument, remind
from sayso.demo.resources import ABOUT_URI, CUSTOMER_URI, customer_as_json, describe
from sayso.demo.results import MigrationReport
from sayso.demo.web import web_search
from sayso.errors import SaysoError
from sayso.schema import Checker
from sayso.version import __version__

_log: Final = logging.getLogger(__name__)
_MAX_THREADS: Final = 8


@dataclass(slots=True)
class _Request:
    """A request that is being answered; `is_cancelled` is set when its client gives it up."""

    method: str
    params: Mapping[str, Any]
    is_cancelled: threading.Event = field(default_factory=threading.Event)


@dataclass
class PlainServer:
    """The server over `database`; `send` writes one message, from any thread."""

    database: Database
    send: Callable[[bytes], None]
    _running: dict[Id, _Request] = field(default_factory=dict[Id, _Request])

    @cached_property
    def lists(self) -> Mapping[str, Any]:
        """The introduction and the lists of the server, as `sayso.demo.server` sends them."""
        text = files("sayso.demo").joinpath("lists.json").read_text(encoding="utf-8")
        return json.loads(text)

    @cached_property
    def checkers(self) -> Mapping[str, Checker]:
        return {tool["name"]: Checker(tool["inputSchema"]) for tool in self.lists["tools"]}

    def serve(self, lines: Iterable[bytes]) -> None:
        """Answer the messages in `lines`, several at the same time, until they end."""
        with ThreadPoolExecutor(_MAX_THREADS) as pool:
            for line in lines:
                try:
                    message = read_message(line)
                    params = read_object(message.params)
                except ValueError as error:
                    self.send(write_error(None, PARSE_ERROR, str(error)))
                    continue
                self._take(message, params, pool)

    def _take(self, message: Message, params: Mapping[str, Any], pool: ThreadPoolExecutor) -> None:
        if message.method == "notifications/cancelled":
            request = self._running.get(params.get("requestId", ""))
            if request is not None:
                request.is_cancelled.set()
        elif message.method is not None and message.id is not None:
            request = self._running[message.id] = _Request(message.method, params)
            pool.submit(self._answer, message.id, request)

    def _answer(self, number: Id, request: _Request) -> None:
        try:
            answer = write_result(number, self._result(request))
        except RpcError as error:
            answer = write_error(number, error.code, error.message)
        except Exception:  # noqa: BLE001 - a bug, which must not leave the client without an answer
            _log.exception("%s failed", request.method)
            answer = write_error(number, INTERNAL_ERROR, "the request failed")
        self._running.pop(number, None)
        if not request.is_cancelled.is_set():
            self.send(answer)

    def _result(self, request: _Request) -> Mapping[str, Any]:
        params = request.params
        if request.method in LISTS:
            key = LISTS[request.method]
            return {key: self.lists[key]}
        match request.method:
            case "initialize":
                return self._introduce(params.get("protocolVersion"))
            case "ping":
                return {}
            case "tools/call":
                return self._call(request)
            case "resources/read":
                return self._read(str(params.get("uri")))
            case "prompts/get":
                return self._prompt(params)
            case "completion/complete":
                return self._complete(params)
            case method:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def _introduce(self, version: object) -> Mapping[str, Any]:
        return {
            "protocolVersion": version if version in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE,
            "capabilities": self.lists["capabilities"],
            "serverInfo": {**self.lists["server"], "version": __version__},
            "instructions": self.lists["instructions"],
        }

    def _call(self, request: _Request) -> Mapping[str, Any]:
        name = request.params.get("name")
        arguments: Mapping[str, Any] = request.params.get("arguments") or {}
        checker = self.checkers.get(str(name))
        if checker is None:
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
        if problems := checker.problems(arguments):
            listed = "\n".join(f"- {problem}" for problem in problems)
            return _error(f"Nothing was run: these arguments do not fit the tool.\n{listed}")
        function = _functions(self.database, self._progress(request))[str(name)]
        try:
            value = function(**{key: _whole(value) for key, value in arguments.items()})
        except SaysoError as error:
            return _error(str(error))
        text = json.dumps(value, ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "structuredContent": value}

    def _progress(self, request: _Request) -> Progress:
        meta: Mapping[str, Any] = request.params.get("_meta") or {}
        token = meta.get("progressToken")

        def tell(count: int, what: str) -> None:
            if token is not None:
                step = {"progressToken": token, "progress": count, "message": f"Done: {what}."}
                self.send(write_notification("notifications/progress", step))
            if request.is_cancelled.is_set():
                raise CancelledMigrationError

        return tell

    def _read(self, uri: str) -> Mapping[str, Any]:
        prefix = CUSTOMER_URI.partition("{")[0]
        text = None
        kind = "text/plain"
        if uri == ABOUT_URI:
            text = describe(self.database)
        elif uri.startswith(prefix):
            text = customer_as_json(self.database, uri.removeprefix(prefix))
            kind = "application/json"
        if text is None:
            raise RpcError(RESOURCE_NOT_FOUND, f"There is no resource {uri}.")
        return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}

    def _prompt(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        (prompt,) = self.lists["prompts"]
        if params.get("name") != prompt["name"]:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {params.get('name')}")
        arguments: Mapping[str, Any] = params.get("arguments") or {}
        try:
            text = remind(unpaid_invoices(self.database), str(arguments.get("invoice_id")))
        except SaysoError as error:
            raise RpcError(INVALID_PARAMS, str(error)) from error
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt["description"], "messages": [message]}

    def _complete(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        reference: Mapping[str, Any] = params.get("ref") or {}
        argument: Mapping[str, Any] = params.get("argument") or {}
        about = str(reference.get("name") or reference.get("uri"))
        name = str(argument.get("name"))
        typed = str(argument.get("value", ""))
        values = complete_argument(self.database, about, name, typed) or []
        shown = values[:MOST_COMPLETIONS]
        has_more = len(values) > len(shown)
        return {"completion": {"values": shown, "total": len(values), "hasMore": has_more}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve on stdin and stdout until stdin ends, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m sayso.demo", description=__doc__)
    add_data_option(parser)
    options = parser.parse_args(arguments)
    lock = threading.Lock()

    def send(message: bytes) -> None:
        # The client may be gone; then stdin ends as well.
        with lock, suppress(OSError):
            sys.stdout.buffer.write(message + b"\n")
            sys.stdout.buffer.flush()

    try:
        with ExitStack() as stack:
            leave_on_signals(stack)
            database = stack.enter_context(open_database(options.data))
            PlainServer(database, send).serve(sys.stdin.buffer)
    except SaysoError as error:
        sys.stderr.write(f"sayso.demo: {error}\n")
        return error.exit_code
    return 0


def _functions(database: Database, progress: Progress) -> Mapping[str, Callable[..., Any]]:
    customers = CustomerTools(database)
    invoices = InvoiceTools(database)
    maintenance = MaintenanceTools(database, pace=0.0)

    def migrate_database(*, dry_run: bool = False) -> MigrationReport:
        return maintenance.run(progress, dry_run=dry_run)

    return {
        "customers_list": customers.customers_list,
        "customers_get": customers.customers_get,
        "customer_create": customers.customer_create,
        "customer_delete": customers.customer_delete,
        "invoice_create_draft": invoices.invoice_create_draft,
        "invoice_send": invoices.send,
        "web_search": web_search,
        "migrate_database": migrate_database,
    }


def _error(text: str) -> Mapping[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _whole(value: Any) -> Any:
    """Return an integer for `5.0`, which JSON Schema counts as one; no tool takes fractions."""
    return int(value) if isinstance(value, float) else value
