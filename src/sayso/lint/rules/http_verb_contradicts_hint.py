"""An HTTP method in the description that contradicts a hint.

## What it does
Finds descriptions with an HTTP request (`DELETE /users/{id}`) that contradicts the hints. PUT,
PATCH and DELETE contradict read-only; DELETE contradicts not destructive. POST is ignored, because
searches use it too.

## Why is this bad
Tools generated from an API description often share one set of hints.

## Example
{"name": "remove_user", "description": "DELETE /users/{id}", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "remove_user", "description": "DELETE /users/{id}",
 "annotations": {"readOnlyHint": false, "destructiveHint": true}}
"""

import re
from typing import Final

from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.subject import Subject

_REQUEST: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) +(?:https?://[^\s/]+)?/[\w{:]")


@Rule("SS117", "http-verb-contradicts-hint", Severity.WARNING).for_tool
def _check(tool: Subject) -> Remarks:
    verbs = {request[1] for request in _REQUEST.finditer(tool.description)}
    if len(verbs) != 1:
        return
    (verb,) = verbs
    if tool.hints.read_only and verb in {"PUT", "PATCH", "DELETE"}:
        yield Remark(f"declared read-only, but it sends {verb}", ("annotations", "readOnlyHint"))
    elif tool.writes and tool.hints.destructive is False and verb == "DELETE":
        message = "declared not destructive, but it sends DELETE"
        yield Remark(message, ("annotations", "destructiveHint"))
