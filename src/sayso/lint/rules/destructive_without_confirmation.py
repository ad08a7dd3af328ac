"""A destructive tool without a confirmation text, a plan or a dry run.

## What it does
Finds tools that are declared destructive and seem to be, but offer no way to preview or confirm a
call: no confirmation text, no plan, no dry-run argument, and no word about confirmation in the
description. Tools for small things (a reaction, a cookie, web storage) are skipped.

## Why is this bad
The person who is asked sees only raw arguments, and cannot preview the change. Many servers leave
the question to the client, so this is only a note. If a server has more than three such tools, they
are reported together.

## Example
{"name": "purge_orders", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Use instead
{"name": "purge_orders", "annotations": {"readOnlyHint": false, "destructiveHint": true},
 "_meta": {"io.sayso/intent": {"confirm": "Purge all orders before {day}?"}}}

## Fix
Not automatic. Declare `sayso.declare(confirm=…, plan=…)`, or add a `dry_run` argument. Tools
declared with sayso are skipped.
"""

from typing import Final

from sayso.intent import META_KEY
from sayso.lint.rule import Remark, Remarks, Rule, Severity
from sayso.lint.rules.confirm_parameter import confirms
from sayso.lint.subject import Parameter, Subject

_PREVIEWS: Final = frozenset({"dryrun", "plan", "preview", "simulate", "simulation", "whatif"})
_PAIRS: Final = frozenset({("dry", "run"), ("what", "if"), ("validate", "only"), ("check", "only")})
_SMALL: Final = frozenset(
    {"cookie", "default", "emoji", "localstorage", "reaction", "sessionstorage"}
)
"""Things whose loss is too small to ask a person."""
_ASKS: Final = ("anthropic/requiresUserInteraction", "io.sayso/plan")


@Rule("SS503", "destructive-without-confirmation", Severity.NOTE, is_folded=True).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.writes or not tool.hints.destructive or not _SMALL.isdisjoint(tool.words):
        return
    # Many servers declare every write as destructive. Skip tools that do not seem destructive.
    if tool.doubt("destructive", value=True) is None or any(map(confirms, tool.parameters)):
        return
    # Skip tools declared with sayso: the list does not show what the author and policy ask.
    asks = (
        META_KEY in tool.meta
        or any(tool.meta.get(key) for key in _ASKS)
        or "confirm" in tool.description.lower()
    )
    if not asks and not any(_previews(parameter) for parameter in tool.parameters):
        message = "declared destructive, without a confirmation text, a plan or a dry run"
        yield Remark(message, ("annotations", "destructiveHint"))


def _previews(parameter: Parameter) -> bool:
    pairs = set(zip(parameter.words, parameter.words[1:], strict=False))
    return not _PREVIEWS.isdisjoint(parameter.words) or not _PAIRS.isdisjoint(pairs)
