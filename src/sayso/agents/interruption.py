"""Questions and answers as plain JSON, for frameworks that pause their run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from sayso.agents.exchange import ToolCall
from sayso.approvals import Approval, ask

_SHAPE: Final = (
    'the answer must be {"server": …, "number": …, "allow": true or false}, with the question\'s '
    'server and number, and optionally a "message"'
)
_KEYS: Final = frozenset({"server", "number", "allow", "message"})


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer to one question, which `server` and `number` identify."""

    server: str
    number: int
    is_allowed: bool
    message: str | None = None


def describe(call: ToolCall, approval: Approval) -> dict[str, Any]:
    """Return the question of a call as plain JSON; secrets in the arguments are redacted."""
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
    """Return the value that resumes a run with the answer to this question.

    The value names the question, so it cannot answer another question. `message` is for the model.

    >>> reply({"server": "crm", "number": 7, "tool": "customer_delete"}, is_allowed=True)
    {'server': 'crm', 'number': 7, 'allow': True}
    """
    answer = {"server": question["server"], "number": question["number"], "allow": is_allowed}
    return answer if message is None else {**answer, "message": message}


def read_reply(value: object) -> Reply | str:
    """Return the answer, or an error message if `value` does not have the exact form."""
    if not isinstance(value, Mapping):
        return _SHAPE
    fields = cast("Mapping[str, Any]", value)
    server = fields.get("server")
    number = fields.get("number")
    allow = fields.get("allow")
    message = fields.get("message")
    if (
        fields.keys() <= _KEYS
        and isinstance(server, str)
        and type(number) is int
        and isinstance(allow, bool)
        and isinstance(message, str | None)
    ):
        return Reply(server, number, allow, message)
    return _SHAPE
