"""What a tool's function can know of the call that it carries out."""

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


class Made(dict[str, Any]):
    """A result that is one already, and not an object that happens to look like it."""


@dataclass(slots=True)
class Running:
    """One call while its function runs.

    `told` makes what goes on to the framework in the place of an error, and `function` is what the
    framework holds for the tool. `crash` is what that raised by mistake, `said` what it raised so
    that the caller reads it, and `returned` holds what it returned, with the `text` of a `Result`.
    `server` is what enters tools
    in the framework, and `raw` the tool as it was listed when it was judged; `entered` is the tool
    that runs now. `is_bypassed` is set where the call would have entered another one.
    """

    call: "Call"
    told: Callable[[Exception, str], Exception]
    function: Callable[..., Any] | None = None
    server: Any = None
    raw: Mapping[str, Any] = field(default_factory=dict[str, Any])
    entered: Any = None
    is_bypassed: bool = False
    crash: Exception | None = None
    said: Exception | None = None
    returned: tuple[Any] | None = None
    text: str | None = None


_running: ContextVar[Running | None] = ContextVar("sayso_running", default=None)
"""The call that this task carries out; a function in a worker thread sees it too."""

running: Final = _running


def current_call() -> Running | None:
    """The call that is carried out here, if there is one."""
    return _running.get()


@dataclass(frozen=True, slots=True)
class Context:
    """The call that a function carries out: who calls, what was approved, how far it is."""

    call: "Call"

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return self.call.principal

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments, as they were approved."""
        return self.call.arguments

    @property
    def plan(self) -> "Plan | None":
        """What a person was shown and agreed to: a draft, say, to be sent as it is."""
        return self.call.plan

    @property
    def approval(self) -> int | None:
        """The number of the approval that the call runs on."""
        return self.call.approval

    def progress(self, done: float, total: float | None = None, text: str = "") -> Awaitable[None]:
        """Tell the caller how far the call is, and the log, should it not come to its end.

        `await` it; in a plain function, which runs in a thread, calling it is enough. Raises the
        cancellation, if there was one.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self.progress_from_thread(done, total, text)
            return _Done()
        return self._tell(done, total, text)

    def progress_from_thread(self, done: float, total: float | None = None, text: str = "") -> None:
        """The same, for plain functions alone."""
        try:
            anyio.from_thread.run(self._tell, done, total, text)
        except concurrent.futures.CancelledError as error:
            raise asyncio.CancelledError from error
        # What is sent after the cancellation is not cancelled by it: the thread has to look.
        self.check_cancelled()

    async def _tell(self, done: float, total: float | None, text: str) -> None:
        if not (_is_sayable(done) and (total is None or _is_sayable(total))):
            # It would end the connection; a call half done must not end over how far it is.
            _log.warning(
                "%s: %r of %r is no progress, and was not told", self.call.name, done, total
            )
        else:
            self.call.reached = (done, total)
            await self.call.progress(done, total, sayable(str(text)) or None)
        await anyio.lowlevel.checkpoint()

    def check_cancelled(self) -> None:
        """Raise `asyncio.CancelledError` in a plain function, if the call was cancelled."""
        anyio.from_thread.check_cancelled()

    def json(self, value: Any) -> "Answer":
        """`value` as a result: structured, and the same as text.

        Raises `UsageError` for what is no JSON.
        """
        structured = structure_of(to_json(value))
        text = json.dumps(structured, ensure_ascii=False)
        return Made(content=[{"type": "text", "text": text}], structuredContent=structured)

    def error(self, text: str) -> "Answer":
        """A result that says to the model why there is none."""
        from sayso.guard import tool_error  # noqa: PLC0415 - for who calls

        return Made(tool_error(text))


def structure_of(plain: Any) -> Any:
    """JSON as the structure of a result: what is no object stands in one, under `result`."""
    if isinstance(plain, Mapping):
        return cast("Any", plain)
    return {"result": plain}


def _is_sayable(number: Any) -> bool:
    return isinstance(number, int | float) and abs(number) <= sys.float_info.max


class _Done:
    """What is done already; whoever waits for it does not wait."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield from ()


def context() -> Context:
    """The call that is carried out here. Raises `UsageError` outside of one."""
    found = _running.get()
    if found is None:
        raise UsageError("there is no call here", fix="Ask inside a tool's function.")
    return Context(found.call)
