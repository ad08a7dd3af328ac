"""An idempotent tool that creates something new with each call.

## What it does
Finds tools with `idempotentHint: true` that create or add, but take no name, key, path or ID that
would identify the new thing in a second call.

## Why is this bad
The server assigns the key, so each call creates another thing. Clients resend idempotent calls when
an answer is lost, which creates duplicates.

## Example
{"name": "create_ticket", "annotations": {"readOnlyHint": false, "idempotentHint": true},
 "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}

## Use instead
{"name": "create_ticket", "annotations": {"readOnlyHint": false, "idempotentHint": false},
 "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}

## Fix
Not automatic. Take a key from the caller, or declare the tool not idempotent.
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Parameter, Subject

_CREATES: Final = frozenset({"create", "add", "insert", "generate", "new"})
_COUNTS: Final = frozenset(
    {"append", "comment", "duplicate", "clone", "increment", "post", "send", "submit", "trigger"}
)
_KNOWS: Final = re.compile(
    r"already (?:exist|ha[sv]e)|same name|merge|upsert|duplicate|unique|idempotent", re.IGNORECASE
)
_KEYS: Final = frozenset(
    {"address", "domain", "email", "file", "filename", "host", "key", "label", "login", "name"}
    | {"path", "ref", "slug", "tag", "url", "username", "uuid", "version"}
)
_NUMBERS: Final = frozenset({"id", "iid", "uid"})


@Rule("SS119", "idempotent-without-key", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.hints.idempotent or not tool.writes or not tool.words:
        return
    # Skip `add_tag_to_note`, which creates nothing, and descriptions that mention second calls.
    if "to" in tool.words or _KNOWS.search(tool.description):
        return
    verb = tool.words[0]
    is_new = verb in _COUNTS or (
        verb in _CREATES
        and not any(_is_key(parameter, tool.words) for parameter in tool.parameters)
    )
    if is_new:
        message = f"declared idempotent, but each call would {verb} another"
        yield Remark(message, ("annotations", "idempotentHint"))


def _is_key(parameter: Parameter, words: list[str]) -> bool:
    """Return whether an argument identifies the new thing, not only its container."""
    if not parameter.words:
        return False
    is_own = all(word in words for word in parameter.words[:-1])
    return parameter.words[-1] in _KEYS or (parameter.words[-1] in _NUMBERS and is_own)
