"""A watchdog that cuts the connection of a statement that the database no longer works on.

A network may drop packets without closing a connection, and a proxy may confirm what it does not
pass on; neither end notices. So a second connection asks about a statement that takes long.
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
"""Failed checks in a row until the cut: a database may briefly accept no connection."""
_FORGOTTEN_SECONDS: Final = 120.0
"""The time that an unknown process id is taken to be at work: a pooler has its own ids."""
_STATE: Final = """SELECT coalesce(state IN ('active', 'fastpath function call', 'disabled'), true)
    FROM pg_stat_activity WHERE pid = %s"""


class StatementWatchdog:
    """A context for each statement of a connection."""

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
        """Cut the connection if its statement takes long and the database is not working on it."""
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
