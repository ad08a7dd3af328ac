"""The observer that runs the operator's probe, a command that prints the state of a server."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from subprocess import DEVNULL, PIPE

import anyio
from anyio.abc import Process

from sayso.errors import UsageError
from sayso.sandbox import Layer
from sayso.trace import Effect, Kind, Life, Observer
from sayso.verify.observe.output import difference_of_texts

TARGET = "the state that --probe prints"
_MOST_BYTES = 16_000_000


class ProbeWatcher:
    """A `Watcher` that runs a command before and after a call. `timeout` is in seconds.

    `begin` and `end` raise `UsageError` if the command fails, since the state is unknown then.
    """

    def __init__(self, command: Sequence[str], *, timeout: float) -> None:
        self._command = tuple(command)
        self._timeout = timeout
        self._state: str | None = None
        self.layer = Layer("probe", is_active=True, detail=self._command[0])

    async def begin(self) -> None:
        """Read the state before a call. Changes since the last call belong to no call."""
        self._state = await self._run()

    async def end(self, call: int) -> Sequence[Effect]:
        before, self._state = self._state, await self._run()
        detail = "" if before is None else difference_of_texts(before, self._state)
        if not detail:
            return ()
        reason = "the operator's probe printed a different state"
        return (
            Effect(
                Kind.UPDATE, TARGET, Observer.PROBE, call, detail, life=Life.USER, reason=reason
            ),
        )

    async def _run(self) -> str:
        try:
            # Use a separate session, so that killing it ends the command's child processes too.
            process = await anyio.open_process(
                self._command, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, start_new_session=True
            )
        except OSError as error:
            raise self._failed(f"the command cannot be started: {error.strerror}") from error
        try:
            with anyio.fail_after(self._timeout):
                output = await _read(process)
                status = await process.wait()
        except TimeoutError as error:
            raise self._failed(f"the command timed out after {self._timeout:g} s") from error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with anyio.CancelScope(shield=True):
                await process.aclose()
        if status:
            raise self._failed(f"the command exited with {status}")
        return output

    def _failed(self, why: str) -> UsageError:
        fix = f"Run {self._command[0]} yourself with the same arguments to see why."
        return UsageError(f"--probe failed: {why}", fix=fix)


async def _read(process: Process) -> str:
    output = b""
    if process.stdout is not None:
        async for piece in process.stdout:
            output += piece
            if len(output) > _MOST_BYTES:
                what = f"--probe printed more than {_MOST_BYTES // 1_000_000} MB"
                raise UsageError(what, fix="Print less, for example a digest of each record.")
    return output.decode("utf-8", "replace")
