"""A server whose tools all have the same hints.

## What it does
Finds servers with at least six tools that all declare the same `readOnlyHint` or `destructiveHint`,
while the texts of at least two tools contradict it with at least 0.9 confidence.

## Why is this bad
Hints set in a loop say nothing about a tool. Clients then run destructive calls without asking, or
ask before every read.

## Example
[{"name": "list_orders", "annotations": {"readOnlyHint": true}},
 {"name": "delete_order", "annotations": {"readOnlyHint": true}}]

## Use instead
[{"name": "list_orders", "annotations": {"readOnlyHint": true}},
 {"name": "delete_order", "annotations": {"readOnlyHint": false, "destructiveHint": true}}]
"""

from typing import Final

from sayso.intent import WIRE_NAMES, HintName
from sayso.lint.rule import Remark, Remarks, Rule, Severity, listed
from sayso.lint.subject import Listing, Subject

_FEWEST: Final = 6
_AGAINST: Final = 2
_NAMES: Final[tuple[HintName, ...]] = ("read_only", "destructive")


@Rule("SS601", "mass-labelled", Severity.WARNING).for_server
def _check(server: Listing) -> Remarks:
    tools = server.tools
    if len(tools) < _FEWEST:
        return
    for name in _NAMES:
        values = {tool.hints[name] for tool in tools}
        (value, *others) = values
        if value is None or others:
            continue
        against = [tool.name for tool in tools if _is_against(tool, name, value=value)]
        if len(against) >= _AGAINST:
            claim = f"all {len(tools)} tools declare {WIRE_NAMES[name]} {str(value).lower()}"
            yield Remark(f"{claim}, which looks wrong for {listed(against)}", (WIRE_NAMES[name],))


def _is_against(tool: Subject, name: HintName, *, value: bool) -> bool:
    if name == "destructive" and (tool.hints.read_only or tool.doubt("read_only", value=True)):
        return False
    return tool.doubt(name, value=not value) is not None
