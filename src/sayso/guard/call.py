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
"""The `_meta` key of the idempotency key: a call that is sent again with the same key runs once."""

_TRACE: Final = "traceparent"
"""The `_meta` key of the W3C Trace Context."""


@dataclass(frozen=True, slots=True)
class Through:
    """The meta-tool that a call came through.

    `tool` is its name, `max_level` the highest level that it may call, `called` the called tool.
    """

    tool: str
    max_level: Level
    called: str


def new_id() -> str:
    """Return the id of a new call. Ids begin with the time, so a database index appends them."""
    return f"{time.time_ns() // 1_000_000:011x}{draw_salt()}"


class CrashError(Exception):
    """The function of a tool raised an unexpected exception, which is this error's `__cause__`."""


async def no_progress(_done: float, _total: float | None, _message: str | None) -> None:
    """Ignore the progress."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The way to request the rest of the list `name`, if sayso cuts that list in a result.

    `cursor(kept_items)` returns the value of the tool's `argument` that requests the items after
    them, or `None` if there is none. The result has this value under the key `field`.
    """

    name: str
    cursor: Callable[[Sequence[Any]], str | None]
    field: str = "next_cursor"
    argument: str = "cursor"


class CallRequest(msgspec.Struct, frozen=True):
    """A caller's request, which no step changes. A struct is used because it is fast to create.

    - `started`: the start time in Unix seconds.
    - `meta`: the call's `_meta`; `brought`: further input, such as answers to the tool's questions.
    - `elicit`, `rounds`: the two ways to ask the caller's client, if the client supports them.
    - `through`: the meta-tool that the call came through.
    - `turn`: the call's place in the queue of its agent's calls, if there is a queue.
    - `caller`: passed to the function that runs the call; no step reads it.
    - `patience`: the seconds that the call waits for a person (default: the guard's `patience`).
    - `tool`: the tool, if the front end has just found it for this principal.
    - `dry_run_of`: for a dry run, the id of the call whose plan the dry run makes.
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
"""The tool of a call before the step `find`; it has the strictest hints."""

_UNKNOWN_FACTS: Final = facts_of(UNKNOWN_TOOL)
UNDECIDED: Final = Decision(Effect.DENY, "undecided", "the call is not decided yet")
"""The decision about a call before the step `decide`."""

_NO_RULES: Final = Policy()


@dataclass(slots=True)
class Call:
    """A request on its way through the guard, with the results of the steps so far.

    Before the steps `find` and `decide`, the tool is unknown and the decision is to deny. `id`,
    `principal` and `name` are the request's. Four fields begin as the request's and may change: a
    reviewer edits `arguments`, an observer adds its trace to `meta`, answers to an earlier question
    are removed from `rounds`, and `progress` is replaced by a callback that also stores it.

    - `is_sent`: set just before the server can see the call. If the answer is lost after that, the
      outcome is unknown.
    - `outcome`: set by a step that knows more than the answer's `isError`.
    - `is_declined`: the person at the client has refused to open the question's page.
    - `reached`: the progress that the tool last reported, and the total.
    - `resume`: the way to request the rest of the result's list.
    - `stopped_by`: the person who stopped the call while its server ran it.
    - `evidence`: the call's attempts to change something although its tool counts as read-only.
    - `excerpts`: large arguments, each with an excerpt of the arguments and one of the extras.
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
        """Return the arguments to show and record, or an excerpt if they are large."""
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
        """Return the facts for the log; the object stays the same until a fact changes."""
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
    """Answer a call that a person stopped; its server may have run it, in part or in full."""
    call.outcome = Outcome.OUTCOME_UNKNOWN
    text = (
        "A person stopped this call while it ran. It may have run in full, in part or not at all. "
        "Do not make it again unless the person says so."
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
    since = "the call began" if call.approval is None else "the person was asked"
    return tool_error(
        f"Nothing was run: the tool “{call.tool.title}” has changed since {since}. "
        "Look at it again before making the call."
    )


def unplanned(call: Call, why: str = "") -> Answer:
    """Answer a call that has no plan; `why` is the reason that the tool's author gives."""
    if why:
        call.outcome = Outcome.TOOL_ERROR
        return tool_error(f"Nothing was run: {why}")
    call.outcome = Outcome.FAILED
    return tool_error("Nothing was run: what this call would change could not be planned.")
