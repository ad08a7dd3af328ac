"""A destructive tool without a question, a plan or a dry run.

## What it does
Finds tools that are declared destructive, read like it, and have neither a text for the question to
a person, nor a plan of what would change, nor an argument for a dry run, nor a word of confirmation
in their description. Small things (a reaction, a cookie, what a page has stored) are passed over.

## Why is this bad
What a person is asked is then made of raw arguments, and nobody can look first. Many servers leave
the question to the client, so this is a note, and one for the whole server where more than three of
its tools are like this.

## Example
{"name": "purge_orders", "annotations": {"readOnlyHint": false, "destructiveHint": true}}

## Use instead
{"name": "purge_orders", "annotations": {"readOnlyHint": false, "destructiveHint": true},
 "_meta": {"io.sayso/intent": {"confirm": "Purge all orders before {day}?"}}}

## Fix
None. `sayso.declare(confirm=…, plan=…)` says both, and a tool that is declared with sayso is passed
over; `dry_run` is an argument of the tool's own.
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
"""What nobody wants to be asked about."""
_ASKS: Final = ("anthropic/requiresUserInteraction", "io.sayso/plan")


@Rule("SS503", "destructive-without-confirmation", Severity.NOTE, is_folded=True).for_tool
def _check(tool: Subject) -> Remarks:
    if not tool.writes or not tool.hints.destructive or not _SMALL.isdisjoint(tool.words):
        return
    # Many servers call every write destructive; there the label is what wants a second look.
    if tool.doubt("destructive", value=True) is None or any(map(confirms, tool.parameters)):
        return
    # What is declared with sayso asks as its author and its policy say; the list tells no more.
    asks = (
        META_KEY in tool.meta
        or any(tool.meta.get(key) for key in _ASKS)
        or "confirm" in tool.description.lower()
    )
    if not asks and not any(_previews(parameter) for parameter in tool.parameters):
        message = "declared destructive, without a question, a plan or a dry run"
        yield Remark(message, ("annotations", "destructiveHint"))


def _previews(parameter: Parameter) -> bool:
    pairs = set(zip(parameter.words, parameter.words[1:], strict=False))
    return not _PREVIEWS.isdisjoint(parameter.words) or not _PAIRS.isdisjoint(pairs)
