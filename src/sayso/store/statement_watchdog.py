"""A watchdog, which closes a connection if the database does not work on the sent statement.

A network may drop packets without closing a connection, and a proxy may confirm data that it does
not pass on. Neither end notices. So a second connection checks on statements that take long.
"""

import asyncio
import contextlib
import os
import socket
import threading
import time
import weakref
from typing import Any, Final

import psycopg

PATIENCE_SECONDS: Final = 10.0
"""The time after which a statement is checked."""
_LOOK_SECONDS: Final = 2.0
_PROBE_SECONDS: Final = 10.0
_MISSES: Final = 2
"""Failed checks until the connection is closed: a database may briefly refuse connections."""
_FORGOTTEN_SECONDS: Final = 120.0
"""How long an unknown process id counts as working, since poolers use ids of their own."""
_STATE: Final = """SELECT coalesce(state IN ('active', 'fastpath function call', 'disabled'), true)
    FROM pg_stat_activity WHERE pid = %s"""


class StatementWatchdog:
    """Watches a connection. Each of its statements runs in this context manager."""

    __slots__ = ("__weakref__", "_began", "_connection", "_info", "_misses", "_process")

    def __init__(self, connection: "psycopg.Connection[Any]", info: str) -> None:
        self._connection = connection
        self._info = info
        self._process = connection.info.backend_pid
        self._began: float | None = None
        self._misses = 0
        _watched.add(self)
        _watch()

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._began = None

    def look(self) -> None:
        """Close the connection if its statement takes long and the database does not work on it."""
        began = self._began
        waited = 0.0 if began is None else time.monotonic() - began
        if waited < PATIENCE_SECONDS or asyncio.run(self._is_at_work(waited)):
            self._misses = 0
            return
        self._misses += 1
        if self._misses >= _MISSES and self._began == began:
            self._cut()

    async def _is_at_work(self, waited: float) -> bool:
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                other = await psycopg.AsyncConnection.connect(self._info, autocommit=True)
                async with other:
                    row = await (await other.execute(_STATE, [self._process])).fetchone()
        except (psycopg.Error, TimeoutError):
            return False
        if row is None:
            return waited < _FORGOTTEN_SECONDS
        return bool(row[0])

    def _cut(self) -> None:
        with contextlib.suppress(psycopg.Error, OSError):
            end = socket.socket(fileno=os.dup(self._connection.fileno()))
            with end:
                end.shutdown(socket.SHUT_RDWR)


_watched: "weakref.WeakSet[StatementWatchdog]" = weakref.WeakSet()
_watching: list[threading.Thread] = []


def _watch() -> None:
    if not any(thread.is_alive() for thread in _watching):
        _watching[:] = [
            threading.Thread(target=_go_round, name="sayso-statement-watchdog", daemon=True)
        ]
        _watching[0].start()


def _go_round() -> None:
    while True:
        time.sleep(_LOOK_SECONDS)
        for watchdog in [*_watched]:
            watchdog.look()
