"""A confirmation argument that the model fills in.

## What it does
Finds boolean arguments named `confirm`, `confirmed`, `user_confirmed` and similar on tools that
write.

## Why is this bad
The model fills in `true` like any argument. It looks as if a person was asked, but none was.

## Example
{"name": "delete_order", "inputSchema": {"type": "object",
 "properties": {"confirm": {"type": "boolean"}}}}

## Use instead
{"name": "delete_order", "annotations": {"destructiveHint": true},
 "_meta": {"io.sayso/intent": {"confirm": "Delete order {order_id}?"}}}

## Fix
Not automatic. Remove the argument, and let the client, elicitation or sayso ask the person.
"""

from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CONFIRMS: Final = frozenset(
    {"acknowledge", "acknowledged", "confirm", "confirmed", "confirmation"}
)
_ALONGSIDE: Final = frozenset(
    {"action", "by", "delete", "deletion", "destructive", "has", "is", "operation", "user", "write"}
)
_SENTENCES: Final = ("i_am_sure", "i_understand", "are_you_sure", "yes_i_am_sure")


@Rule("SS502", "confirm-parameter", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    for parameter in tool.parameters:
        if tool.writes and confirms(parameter):
            yield Remark(f"the model can confirm its own call with {parameter.name}", parameter.at)


def confirms(parameter: Parameter) -> bool:
    """Return whether an argument is a confirmation that the model fills in."""
    words = set(parameter.words)
    is_named = bool(words & _CONFIRMS) and words <= _CONFIRMS | _ALONGSIDE
    is_switch = "boolean" in parameter.kinds or {"yes", "true"} & {
        word.lower() for word in parameter.choices
    }
    return bool(is_switch) and (is_named or "_".join(parameter.words) in _SENTENCES)
