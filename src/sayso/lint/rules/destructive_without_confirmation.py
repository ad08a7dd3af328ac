"""A destructive tool without a confirmation text, a plan or a dry run.

## What it does
Finds tools that are declared destructive and look it, but have no text for the question to a
person, no plan, no dry-run argument and no mention of confirmation in the description. Small things
(a reaction, a cookie, web storage) are skipped.

## Why is this bad
The person who is asked sees only raw arguments, and cannot preview the change. Many servers leave
the question to the client, so this is a note, reported once for a server with more than three such
tools.

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
"""Things that are too small for a question."""
_ASKS: Final = ("anthropic/requiresUserInteraction", "io.sayso/plan")


@Rule("SS503", "destructive-without-confirmation", Severity.NOTE, is_folded=True).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.writes or not tool.hints.destructive or not _SMALL.isdisjoint(tool.words):
        return
    # Many servers label every write as destructive; there the label is the likely mistake.
    if tool.doubt("destructive", value=True) is None or any(map(confirms, tool.parameters)):
        return
    # With sayso, the author and the policy decide about questions; the list does not show how.
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
