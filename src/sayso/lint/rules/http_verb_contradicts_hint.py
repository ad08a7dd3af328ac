"""A hint that the HTTP request which the description names contradicts.

## What it does
Finds tools whose description names the request that they make (`DELETE /users/{id}`), where that
contradicts the hints: PUT, PATCH and DELETE on a tool that is declared read-only, DELETE on one
that is declared not destructive. POST says nothing, since searches are posted too.

## Why is this bad
Tools made from an API's description often get one set of hints for all of them.

## Example
{"name": "remove_user", "description": "DELETE /users/{id}", "annotations": {"readOnlyHint": true}}

## Use instead
{"name": "remove_user", "description": "DELETE /users/{id}",
 "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Fix
None: either the hint is wrong or the text is.
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
        said = "declared not destructive, but it sends DELETE"
        yield Remark(said, ("annotations", "destructiveHint"))
