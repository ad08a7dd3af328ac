"""The gates that are compared: none, three simple ones, and sayso in its modes."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol

import mcp_types as types
from mcp.shared.exceptions import MCPError

import sayso
from eval.labels import DECLARED, LABELLINGS, LYING
from eval.person import NOBODY, Person
from eval.script import Script, Step
from eval.stage import Stage
from sayso.approvals import Approval
from sayso.audit import AuditLog
from sayso.policy import Policy
from sayso.policy.decision import Mode

Send = Callable[[Step], Awaitable[types.CallToolResult | None]]
"""Makes one call; `None` where the gate did not let it through."""


class Gate(Protocol):
    """What stands between an agent and a server."""

    @property
    def name(self) -> str: ...

    @property
    def minds(self) -> Sequence[str]:
        """The labellings that make a difference to this gate."""
        ...

    @property
    def asks_people(self) -> bool: ...

    def opened(
        self, stage: Stage, who: Person, script: Script, log: AuditLog
    ) -> AbstractAsyncContextManager[Send]:
        """The gate, for one run of an agent."""
        ...


Asks = Callable[[str, types.Tool | None], bool]
"""Whether a gate asks about a tool, by its name and how it is listed, if it is."""


@dataclass(frozen=True, slots=True)
class SimpleGate:
    """Decides by the tool alone. Asks about each call anew, unless it `remembers` a yes."""

    name: str
    asks: Asks
    minds: Sequence[str] = (DECLARED,)
    asks_people: bool = True
    remembers: bool = False

    @asynccontextmanager
    async def opened(
        self, stage: Stage, who: Person, script: Script, log: AuditLog
    ) -> AsyncGenerator[Send]:
        """See `Gate.opened`."""
        del script, log
        tools = {tool.name: tool for tool in (await stage.client.list_tools()).tools}
        allowed: set[str] = set()

        async def send(step: Step) -> types.CallToolResult | None:
            listed = stage.listed(step)
            if listed not in allowed and self.asks(listed, tools.get(listed)):
                if who.answer(step.key) is not True:
                    return None
                if self.remembers:
                    allowed.add(listed)
            return await _sent(stage.client.call_tool, listed, step.arguments)

        yield send


@dataclass(frozen=True, slots=True)
class SaysoGate:
    """sayso's own guard, as `sayso.wrap` puts it around a client."""

    mode: Mode
    minds: Sequence[str] = LABELLINGS

    @property
    def name(self) -> str:
        return f"sayso {self.mode}"

    @property
    def asks_people(self) -> bool:
        return self.mode in (Mode.GUARDED, Mode.STRICT)

    @asynccontextmanager
    async def opened(
        self, stage: Stage, who: Person, script: Script, log: AuditLog
    ) -> AsyncGenerator[Send]:
        """See `Gate.opened`. Each run is somebody else's, so that no answer is left over."""
        behind = {label.listed: name for name, label in stage.labels.items()}

        async def ask(approval: Approval) -> bool | None:
            question = approval.question
            return who.answer((behind[question.tool], question.arguments_digest))

        async with sayso.wrap(
            stage.client,
            policy=Policy(mode=self.mode),
            approver=None if who.kind == NOBODY else ask,
            audit=log,
            principal=f"{self.mode} {who.kind} {script.name}"[:128],
            server=stage.world.name,
        ) as guarded:

            async def send(step: Step) -> types.CallToolResult | None:
                return await _sent(guarded.call_tool, stage.listed(step), step.arguments)

            yield send


async def _sent(
    call: Callable[..., Awaitable[Any]], name: str, arguments: Mapping[str, Any]
) -> types.CallToolResult | None:
    try:
        return await call(name, dict(arguments))
    except MCPError:
        return None


RISKY: Final = re.compile(
    r"delete|remove|drop|destroy|erase|purge|clear|reset|write|update|edit|modify|overwrite|move|"
    r"rename|send|pay|transfer|post|publish|execute|exec|run|shell|command|deploy|kill|cancel|revoke"
)
"""What frameworks' lists of risky names look like; each word anywhere in the name."""


def has_risky_name(name: str, _tool: types.Tool | None) -> bool:
    """Whether the name holds one of the words that such gates look for.

    >>> has_risky_name("send_money", None), has_risky_name("schedule_transaction", None)
    (True, False)
    """
    return RISKY.search(name.lower()) is not None


def is_not_declared_reading(_name: str, tool: types.Tool | None) -> bool:
    """Whether the server does not say, in so many words, that the tool only reads."""
    hints = None if tool is None else tool.annotations
    return hints is None or hints.read_only_hint is not True


NO_GATE: Final = SimpleGate("no gate", lambda _name, _tool: False, asks_people=False)

GATES: Final[tuple[Gate, ...]] = (
    NO_GATE,
    SimpleGate("ask always", lambda _name, _tool: True),
    SimpleGate("ask once a tool", lambda _name, _tool: True, remembers=True),
    SimpleGate("name pattern", has_risky_name, (DECLARED, LYING)),
    SimpleGate("declared hints", is_not_declared_reading, LABELLINGS),
    SaysoGate(Mode.GUARDED),
    SaysoGate(Mode.STRICT),
    SaysoGate(Mode.PLAN),
    SaysoGate(Mode.UNATTENDED),
)
