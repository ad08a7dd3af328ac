"""Tries: calls that people make from the console, which run in the background.

The process that runs a try keeps it, and other processes request it there. The log records a try
like any call.
"""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from sayso.catalog import Tool
from sayso.connect import RpcError
from sayso.errors import SaysoError
from sayso.gateway import Gateway, GoneError
from sayso.guard import Guard, UnknownToolError, new_id, opened
from sayso.policy import Principal
from sayso.schema import size

_MOST: Final = 100
"""The number of tries that a process remembers."""
_MOST_RUNNING: Final = 8
"""The number of running tries per person and process."""
_LARGEST: Final = 400_000
"""The limit of a result's size, in characters of JSON."""
_SHOWN: Final = 20_000
_LONGEST_MESSAGE: Final = 400
_LOOK_REQUEST: Final = "console try"
_STOP_REQUEST: Final = "console try stop"

_log: Final = logging.getLogger(__name__)


class State(StrEnum):
    """A try's state."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(slots=True)
class Try:
    """A try. At its end it has the tool's result in `answer`, or an `error`.

    `done`, `total` and `message` are the tool's progress.
    """

    id: str
    person: str
    tool: str
    title: str
    server: str
    level: str
    arguments: Mapping[str, Any]
    call: str
    started: float
    state: State = State.RUNNING
    ended: float | None = None
    done: float | None = None
    total: float | None = None
    message: str = ""
    answer: dict[str, Any] | None = None
    error: str = ""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        known: dict[str, Any] = {**data, "state": State(data["state"])}
        return cls(**known)


class TooManyError(Exception):
    """The person has reached the limit of running tries."""


@dataclass(slots=True)
class Tries:
    """The tries of one process; `look` and `stop` also work for tries in other processes."""

    gateway: Gateway
    _known: dict[str, Try] = field(default_factory=dict[str, Try])
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])

    def __post_init__(self) -> None:
        self.gateway.replica_client.handlers[_LOOK_REQUEST] = self._try_data
        self.gateway.replica_client.handlers[_STOP_REQUEST] = self._stopped

    @property
    def guard(self) -> Guard:
        return self.gateway.guard

    def start(
        self, token: str, person: str, principal: Principal, tool: Tool, arguments: dict[str, Any]
    ) -> Try:
        """Start a call and return at once. Raises `TooManyError`."""
        running = [trial for trial in self._known.values() if trial.state is State.RUNNING]
        if sum(trial.person == person for trial in running) >= _MOST_RUNNING:
            raise TooManyError
        self._make_room()
        made = Try(
            id=self.id_of(token),
            person=person,
            tool=tool.qualified_name,
            title=tool.title,
            server=tool.server,
            level=str(tool.level),
            arguments=arguments,
            call=new_id(),
            started=self.guard.clock(),
        )
        self._known[made.id] = made
        task = asyncio.create_task(self._run(made, principal))
        self._tasks[made.id] = task
        task.add_done_callback(lambda _: self._ended(made))
        return made

    def id_of(self, token: str) -> str:
        return f"{self.gateway.replica_client.name or 'here'}.{token}"

    async def look(self, id_: str, person: str) -> Try | None:
        """Return a person's own try from any process; `None` if it is unknown or not theirs."""
        trial = self._known.get(id_)
        if trial is None:
            data = await self._sent(id_, _LOOK_REQUEST)
            if data is None:
                return None
            trial = Try.from_dict(data)
        if trial.person != person:
            return None
        return trial

    async def stop(self, trial: Try) -> None:
        if trial.id in self._known:
            await self._stopped(trial.id)
        else:
            await self._sent(trial.id, _STOP_REQUEST)

    async def _sent(self, id_: str, kind: str) -> Any:
        try:
            return await self.gateway.replica_client.send(id_.partition(".")[0], kind, id_)
        except GoneError:
            return None

    async def _try_data(self, body: Any) -> dict[str, Any] | None:
        trial = self._known.get(str(body))
        return trial and asdict(trial)

    async def _stopped(self, body: Any) -> bool:
        task = self._tasks.get(str(body))
        if task is None:
            return False
        task.cancel()
        # Wait until the outcome is recorded, so that the page shows it.
        await asyncio.wait([task], timeout=2)
        return True

    async def _run(self, trial: Try, principal: Principal) -> None:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            trial.done = done
            trial.total = total
            trial.message = (message or "")[:_LONGEST_MESSAGE]

        try:
            answer = await self.guard.call(
                principal, trial.tool, trial.arguments, progress=progress, id=trial.call
            )
            trial.answer = _shown(opened(answer))
            trial.state = State.DONE
        except asyncio.CancelledError:
            trial.state = State.CANCELLED
        except UnknownToolError:
            trial.state = State.FAILED
            trial.error = "The tool is no longer available to you."
        except RpcError as error:
            trial.state = State.FAILED
            trial.error = f"The server returned an error: {error}"
        except (SaysoError, ValueError) as error:
            trial.state = State.FAILED
            trial.error = str(error)
        except Exception:  # noqa: BLE001 - the page must show how the task ended
            trial.state = State.FAILED
            trial.error = "Internal error; see sayso's log."
            _log.exception("a try of %s failed", trial.tool)

    def _ended(self, trial: Try) -> None:
        self._tasks.pop(trial.id, None)
        if trial.state is State.RUNNING:
            trial.state = State.CANCELLED  # its task was cancelled before it began
        trial.ended = self.guard.clock()

    def _make_room(self) -> None:
        ended = [key for key, trial in self._known.items() if trial.state is not State.RUNNING]
        for key in ended[: max(0, len(self._known) - _MOST + 1)]:
            del self._known[key]


def new_token() -> str:
    """Return a token that makes a form run its call only once."""
    return secrets.token_hex(12)


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer, cut if it is too large to keep or send to another process."""
    if size(answer) <= _LARGEST:
        return answer
    text = str(answer)[:_SHOWN]
    note = f"This result is too large to be shown completely. It begins: {text}"
    return {"content": [{"type": "text", "text": note}], "isError": answer.get("isError") is True}
