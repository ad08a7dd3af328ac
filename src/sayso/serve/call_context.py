"""The context of the call that a tool's function executes."""

import asyncio
import concurrent.futures
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import anyio.from_thread
import anyio.lowlevel

from sayso.errors import UsageError
from sayso.policy import Principal
from sayso.schema import sayable
from sayso.serve.values import to_json

_log: Final = logging.getLogger(__name__)

if TYPE_CHECKING:
    from sayso.approvals import Plan
    from sayso.guard import Answer, Call


class RawResult(dict[str, Any]):
    """A finished MCP result. The class marks it, because a tool's data may look like a result."""


@dataclass(slots=True)
class Running:
    """A call while its function runs.

    `public_error` replaces errors for the framework. `function` is the framework's function of the
    tool. That function sets `crash` (an unexpected error), `raised` (an error for the caller), or
    `returned` (its value, with the `text` of a `Result`). `server` is the framework's object that
    runs tools. `raw` is the tool as listed when the call was decided, and `entered` the tool that
    runs. `is_bypassed` is set if the framework tried to run another tool.
    """

    call: "Call"
    public_error: Callable[[Exception, str], Exception]
    function: Callable[..., Any] | None = None
    server: Any = None
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entered: Any = None
    is_bypassed: bool = False
    crash: Exception | None = None
    raised: Exception | None = None
    returned: tuple[Any] | None = None
    text: str | None = None


_running: ContextVar[Running | None] = ContextVar("sayso_running", default=None)
"""The call that this task executes, also visible in worker threads."""

running: Final = _running


def current_call() -> Running | None:
    """Return the running call, or `None` outside a call."""
    return _running.get()


@dataclass(frozen=True, slots=True)
class Context:
    """The call that a function executes: its principal, approved arguments and progress."""

    call: "Call"

    @property
    def principal(self) -> Principal:
        return self.call.principal

    @property
    def arguments(self) -> Mapping[str, Any]:
        return self.call.arguments

    @property
    def plan(self) -> "Plan | None":
        """The plan that a person approved, such as a draft to send unchanged."""
        return self.call.plan

    @property
    def approval(self) -> int | None:
        return self.call.approval

    def progress(self, done: float, total: float | None = None, text: str = "") -> Awaitable[None]:
        """Report progress to the caller, and to the log in case the call does not finish.

        Async functions must `await` this; plain functions, which run in a thread, just call it. If
        the call was cancelled, it raises the cancellation.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self.progress_from_thread(done, total, text)
            return _Done()
        return self._tell(done, total, text)

    def progress_from_thread(self, done: float, total: float | None = None, text: str = "") -> None:
        """Report progress from a plain function."""
        try:
            anyio.from_thread.run(self._tell, done, total, text)
        except concurrent.futures.CancelledError as error:
            raise asyncio.CancelledError from error
        # A thread is not interrupted by a cancellation, so check for it here.
        self.check_cancelled()

    async def _tell(self, done: float, total: float | None, text: str) -> None:
        if not (_is_sayable(done) and (total is None or _is_sayable(total))):
            # Sending an invalid number would end the connection in the middle of a call.
            _log.warning("%s: skipped invalid progress %r of %r", self.call.name, done, total)
        else:
            self.call.reached = (done, total)
            await self.call.progress(done, total, sayable(str(text)) or None)
        await anyio.lowlevel.checkpoint()

    def check_cancelled(self) -> None:
        """Raise `asyncio.CancelledError` in a plain function, if the call was cancelled."""
        anyio.from_thread.check_cancelled()

    def json(self, value: Any) -> "Answer":
        """Return `value` as a result, both structured and as text.

        Raises `UsageError` if `value` is not JSON.
        """
        structured = structure_of(to_json(value))
        text = json.dumps(structured, ensure_ascii=False)
        return RawResult(content=[{"type": "text", "text": text}], structuredContent=structured)

    def error(self, text: str) -> "Answer":
        """Return an error result with this text for the model."""
        from sayso.guard import tool_error  # noqa: PLC0415 - for who calls

        return RawResult(tool_error(text))


def structure_of(plain: Any) -> Any:
    """Return JSON as structured content: an object, or one with the value under `result`."""
    if isinstance(plain, Mapping):
        return cast("Any", plain)
    return {"result": plain}


def _is_sayable(number: Any) -> bool:
    return isinstance(number, int | float) and abs(number) <= sys.float_info.max


class _Done:
    """An awaitable that returns at once."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


def context() -> Context:
    """Return the context of the running call. Raises `UsageError` outside of a call."""
    call = _running.get()
    if call is None:
        raise UsageError("no call is running", fix="Use the context inside a tool's function.")
    return Context(call.call)
