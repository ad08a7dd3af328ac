"""One call: its request, the decision about it, and the answers it may get."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING, Any, Final

import msgspec

from sayso.audit import Facts, Outcome, draw_salt
from sayso.catalog import Tool
from sayso.guard.meta import forwarded_meta, sent_meta
from sayso.intent import Evidence, Intent, Level, resolve
from sayso.policy import Decision, Effect, Policy, Principal, ToolFacts, facts_of
from sayso.schema import digest_exactly, read_traceparent, redact, sayable

if TYPE_CHECKING:
    from sayso.approvals import Approval, Elicit, Grant, Plan, Rounds
    from sayso.guard.ordering import Turn

Answer = dict[str, Any]
"""A `tools/call` result in wire form."""

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
Execute = Callable[["Call"], Awaitable[Answer]]

META_APPROVAL: Final = "io.sayso/approval"
META_OUTCOME: Final = "io.sayso/outcome"
META_KEY: Final = "io.sayso/idempotency-key"
"""The key in a call's `_meta` whose text makes the call happen once, however often it is sent."""

_TRACE: Final = "traceparent"
"""W3C Trace Context, in `_meta` as MCP carries it."""


@dataclass(frozen=True, slots=True)
class Through:
    """The meta-tool that a call came through: its name, and the highest level that it may call.

    `called` is the inner tool's name there.
    """

    tool: str
    most: Level
    called: str


def new_id() -> str:
    """Return the id of a new call. It begins with the time, so an index of ids grows at its end."""
    return f"{time.time_ns() // 1_000_000:011x}{draw_salt()}"


class CrashError(Exception):
    """A tool's function raised an unexpected exception, which is the cause of this."""


async def no_progress(_done: float, _total: float | None, _message: str | None) -> None:
    """Drop the progress."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The way to get the rest of the list `name` in a result, if it is cut.

    `cursor` returns the value of the `argument` that continues after these items, or `None` if no
    call does. The result gets it as `field`, next to the list.
    """

    name: str
    cursor: Callable[[Sequence[Any]], str | None]
    field: str = "next_cursor"
    argument: str = "cursor"


class CallRequest(msgspec.Struct, frozen=True):
    """A caller's request, unchanged. It is a struct, since one is made for each call.

    - `started`: in Unix seconds.
    - `meta`: its `_meta`; `brought`: further input, such as answers to the tool's questions.
    - `elicit`, `rounds`: the two ways to ask the caller's client, if it has them.
    - `through`: the meta-tool that names this tool.
    - `turn`: its place in the queue of its agent's calls, if there is one.
    - `caller`: passed to the function that runs the call; no step reads it.
    - `patience`: the seconds that it waits for a person, if that is not the guard's.
    - `tool`: the tool, if the front end just found it for this principal.
    - `dry_run_of`: the id of the call whose plan this one makes.
    """

    id: str
    principal: Principal
    name: str
    arguments: Mapping[str, Any]
    started: float
    progress: Progress = no_progress
    meta: Mapping[str, Any] | None = None
    brought: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    elicit: "Elicit | None" = None
    rounds: "Rounds | None" = None
    through: Through | None = None
    turn: "Turn | None" = None
    caller: Any = None
    patience: float | None = None
    tool: object | None = None
    dry_run_of: str | None = None


_STRICTEST: Final = resolve(Evidence())
UNKNOWN_TOOL: Final = Tool("", "", {}, Intent(), _STRICTEST, {}, (), "")
"""The tool of a call whose tool is not found yet: it has the strictest hints."""

_UNKNOWN_FACTS: Final = facts_of(UNKNOWN_TOOL)
UNDECIDED: Final = Decision(Effect.DENY, "undecided", "it is not decided yet")
"""The decision about a call before there is one."""

_NO_RULES: Final = Policy()


@dataclass(slots=True)
class Call:
    """A request on its way through the guard, with the results of the steps so far.

    Until a step decides, the strictest holds: an unknown tool, which is denied. `id`, `principal`
    and `name` are the request's. `arguments`, `meta`, `rounds` and `progress` begin as the
    request's: a reviewer may edit the arguments, an observer adds its trace to `meta`, answers to
    another question are dropped from `rounds`, and `progress` may be tracked.

    - `is_sent`: true just before the server can see the call; after that, a lost answer means that
      the outcome is unknown.
    - `outcome`: set by a step that knows more than the answer's `isError`.
    - `is_declined`: the caller's person will not open the page of the question.
    - `reached`: the progress that the tool reported, and its total.
    - `resume`: the way to get the rest of its list.
    - `stopped_by`: the person who stopped it at its server.
    - `evidence`: its forbidden attempts.
    - `excerpts`: large arguments, each with the excerpts of them and of the extras.
    """

    request: CallRequest
    policy: Policy = _NO_RULES
    tool: Tool = UNKNOWN_TOOL
    tool_facts: ToolFacts = _UNKNOWN_FACTS
    decision: Decision = UNDECIDED
    id: str = field(init=False)
    principal: Principal = field(init=False)
    name: str = field(init=False)
    arguments: Mapping[str, Any] = field(init=False)
    meta: Mapping[str, Any] | None = field(init=False)
    rounds: "Rounds | None" = field(init=False)
    progress: Progress = field(init=False)
    arguments_digest: str = ""
    plan: "Plan | None" = None
    approval: int | None = None
    approved: "Approval | None" = None
    grant: "Grant | None" = None
    claim: str | None = None
    is_declined: bool = False
    tries: int = 0
    is_sent: bool = False
    reached: tuple[float, float | None] | None = None
    resume: Resume | None = None
    outcome: Outcome | None = None
    incident: str | None = None
    stopped_by: str | None = None
    evidence: tuple[str, ...] = ()
    excerpts: tuple[tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]], ...] = ()
    _cached_facts: tuple[tuple[object, ...], Facts] | None = None

    def __post_init__(self) -> None:
        request = self.request
        self.id = request.id
        self.principal = request.principal
        self.name = request.name
        self.arguments = request.arguments
        self.meta = request.meta
        self.rounds = request.rounds
        self.progress = request.progress

    @property
    def is_found(self) -> bool:
        return self.tool is not UNKNOWN_TOOL

    @property
    def is_decided(self) -> bool:
        return self.decision is not UNDECIDED

    @property
    def extras(self) -> dict[str, Any]:
        meta = self.forwarded
        if not meta:
            return {**self.request.brought}
        return {"_meta": meta, **self.request.brought}

    @property
    def shown(self) -> Mapping[str, Any]:
        """Return the arguments to show and record: an excerpt of large ones."""
        for arguments, shown, _ in self.excerpts:
            if arguments is self.arguments:
                return shown
        return self.arguments

    @property
    def shown_extras(self) -> Mapping[str, Any]:
        for arguments, _, shown_extras in self.excerpts:
            if arguments is self.arguments:
                return shown_extras or self.extras
        return self.extras

    @property
    def forwarded(self) -> dict[str, Any]:
        return forwarded_meta(self.meta, self.policy.forward_meta)

    @property
    def sent_meta(self) -> dict[str, Any]:
        return sent_meta(self.meta, self.policy.forward_meta)

    def digest_of(self, arguments: Mapping[str, Any]) -> str:
        if extras := self.extras:
            return digest_exactly({"arguments": arguments, **extras})
        return digest_exactly(arguments)

    @property
    def facts(self) -> Facts:
        """Return the facts for the log: the same object as long as none of them changes."""
        inputs = (
            self.tool,
            self.arguments,
            self.decision,
            self.plan,
            self.approved,
            self.grant,
            self.tries,
            self.reached,
            self.stopped_by,
            self.evidence,
        )
        if self._cached_facts is None or not all(map(is_, self._cached_facts[0], inputs)):
            self._cached_facts = (inputs, self._facts())
        return self._cached_facts[1]

    def _facts(self) -> Facts:
        return Facts(
            self.id,
            self.principal,
            self.tool,
            self.shown,
            self.arguments_digest,
            self.decision,
            self._more(),
            self._personal(),
            self.policy.hidden,
        )

    def _more(self) -> dict[str, Any]:
        more: dict[str, Any] = {
            "try": self.tries if self.tries > 1 else None,
            "plan": self.plan and self.plan.digest,
            "grant": self.grant and self.grant.number,
            "channel": self.approved and self.approved.channel,
            "reached": self.reached and list(self.reached),
            "trace": read_traceparent((self.meta or {}).get(_TRACE)),
            "through": self.request.through and self.request.through.tool,
            "dry_run_of": self.request.dry_run_of,
        }
        return {key: value for key, value in more.items() if value is not None}

    def _personal(self) -> dict[str, Any]:
        personal: dict[str, Any] = {}
        if self.approved is not None:
            personal["answered_by"] = self.approved.answered_by
            if self.approved.edit is not None:
                personal["asked_digest"] = self.approved.question.arguments_digest
        elif self.grant:
            personal["answered_by"] = self.grant.given_by
        if self.stopped_by:
            personal["stopped_by"] = self.stopped_by
        if extras := self.shown_extras:
            personal["extras"] = redact(extras)
        if self.evidence:
            personal["evidence"] = [*self.evidence]
        return personal


def lost_answer(call: Call) -> Answer:
    """Answer a call whose outcome is unknown."""
    call.outcome = Outcome.OUTCOME_UNKNOWN
    if call.tool.level is Level.READ:
        text = "The server's answer was lost. The call only reads, so it may be made again."
    else:
        text = (
            "The server's answer was lost: this call may have run or not. It was not sent again. "
            "Look at what it would have changed before doing anything else."
        )
    return tool_error(text, **{META_OUTCOME: str(Outcome.OUTCOME_UNKNOWN)})


def stopped(call: Call) -> Answer:
    """Answer a call that a person stopped: its server may have done any part of it."""
    call.outcome = Outcome.OUTCOME_UNKNOWN
    text = (
        "A person stopped this call while it ran. It may have been done, in part or not at all. Do "
        "not make it again unless the person says so."
    )
    return tool_error(text, **{META_OUTCOME: str(Outcome.OUTCOME_UNKNOWN)})


def tool_error(text: str, **meta: Any) -> Answer:
    """Return an answer that tells the model why there is no result."""
    answer: Answer = {"content": [{"type": "text", "text": sayable(text)}], "isError": True}
    if meta:
        answer["_meta"] = meta
    return answer


def tool_changed(call: Call) -> Answer:
    """Answer a call whose tool was replaced after the decision or the question."""
    call.outcome = Outcome.TOOL_CHANGED
    asked = "that it was" if call.approval is None else "that the person was asked about"
    return tool_error(
        f"Nothing was run: “{call.tool.title}” is not the tool any more {asked}. "
        "Look at it again before making the call."
    )


def unplanned(call: Call, why: str = "") -> Answer:
    """Answer a call that has no plan; `why` is its author's reason."""
    if why:
        call.outcome = Outcome.TOOL_ERROR
        return tool_error(f"Nothing was run: {why}")
    call.outcome = Outcome.FAILED
    return tool_error("Nothing was run: what this call would change could not be planned.")
