"""A question as a framework's pause keeps it, and the answer that comes back: both plain JSON."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.agents.exchange import ToolCall
from sayso.approvals import Approval, ask

_SHAPE: Final = (
    'an answer is {"server": …, "number": …, "allow": true or false} of this question, and may '
    'have a "message"'
)
_KEYS: Final = frozenset({"server", "number", "allow", "message"})


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer to one question; `server` and `number` say to which."""

    server: str
    number: int
    is_allowed: bool
    message: str | None = None


def describe(call: ToolCall, approval: Approval) -> dict[str, Any]:
    """The question of a call, for whoever shows it; secrets among the arguments are not in it."""
    asked = approval.question
    return {
        "server": asked.server,
        "number": approval.number,
        "call": call.id,
        "tool": call.name,
        "title": asked.title,
        "level": asked.level,
        "sentence": asked.confirm or asked.sentence or ask(asked),
        "reason": asked.reason,
        "arguments": dict(asked.arguments),
        "plan": asked.plan and dict(asked.plan),
        "expires": approval.expires,
    }


def reply(
    question: Mapping[str, Any], *, is_allowed: bool, message: str | None = None
) -> dict[str, Any]:
    """What to resume with, to answer this question; `message` tells the model why.

    It names the question, so that it never serves another one that is asked meanwhile.

    >>> reply({"server": "crm", "number": 7, "tool": "customer_delete"}, is_allowed=True)
    {'server': 'crm', 'number': 7, 'allow': True}
    """
    said = {"server": question["server"], "number": question["number"], "allow": is_allowed}
    return said if message is None else {**said, "message": message}


def read_reply(said: object) -> Reply | str:
    """The answer, or what is wrong with it: whatever is not exactly an answer approves nothing."""
    if not isinstance(said, Mapping):
        return _SHAPE
    found = cast("Mapping[str, Any]", said)
    server = found.get("server")
    number = found.get("number")
    allow = found.get("allow")
    message = found.get("message")
    if (
        found.keys() <= _KEYS
        and isinstance(server, str)
        and type(number) is int
        and isinstance(allow, bool)
        and isinstance(message, str | None)
    ):
        return Reply(server, number, allow, message)
    return _SHAPE
