"""`sayso prompt`: the system prompt for a model that calls a server's tools."""

import sys
from dataclasses import dataclass
from typing import Any

from sayso.cli.explain import Caller
from sayso.cli.options import Command, Json, PolicyPath, Timeout, targets_of
from sayso.cli.policy import read_policy
from sayso.cli.terminal import plain, print_document, print_errors, talk
from sayso.cli.tool_reading import ToolListing, ask_listings, errors_in
from sayso.prompt import TEMPLATE, Names, Prompt, Variant, build
from sayso.settings import read_text


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """The form of the prompt.

    Parameters
    ----------
    advisory
        Write for a model without a gateway: the model asks the person itself, and waits.
    budget
        Token limit (estimated). Examples are dropped first, then descriptions.
    names
        Tool names that the model uses. Default: the gateway's names. With --advisory and one
        server: the server's names.
    template
        A file with your own Jinja2 template.
    """

    advisory: bool = False
    budget: int | None = None
    names: Names | None = None
    template: str | None = None


def prompt(
    *target: str,
    form: PromptOptions | None = None,
    caller: Caller | None = None,
    policy: PolicyPath = None,
    json: Json = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Write the system prompt for a model that calls the tools of one or more servers.

    Connects, lists the tools and calls none. Exit code 1 if the budget is too small for the rules
    and names, which are never dropped.

    Parameters
    ----------
    target
        As for sayso inspect. A command goes after --.
    """
    form = form or PromptOptions()
    targets = targets_of(target, command, "prompt")
    rules = read_policy(policy)
    template = TEMPLATE
    if form.template is not None:
        template = read_text(form.template)
    found = ask_listings(targets, timeout)
    if errors := errors_in(found):
        # Without the tools of one server the prompt would be wrong.
        return print_errors(errors, is_json=json)
    listings = [answer for answer in found if isinstance(answer, ToolListing)]
    variant = Variant.ADVISORY if form.advisory else Variant.ENFORCED
    made = build(
        [tool for listing in listings for tool in listing.tools],
        principal=(caller or Caller()).principal,
        policy=rules,
        variant=variant,
        names=form.names,
        budget=form.budget,
        template=template,
    )
    _print(made, variant, listings, is_json=json)
    return int(not made.fits)


def _print(made: Prompt, variant: Variant, listings: list[ToolListing], *, is_json: bool) -> None:
    problems = [problem for listing in listings for problem in listing.problems]
    if is_json:
        fields: dict[str, Any] = {
            "variant": str(variant),
            "tools": made.count,
            "tokens": made.tokens,
            "budget": made.budget,
            "dropped": list(made.dropped),
            "text": made.text,
        }
        if problems:
            fields["problems"] = problems
        print_document(fields)
        return
    sys.stdout.write(f"{made.text}\n")
    for line in problems:
        talk().print(plain(line))
    if made.dropped:
        talk().print(f"Dropped to fit {made.budget} tokens: {', '.join(made.dropped)}.")
    if not made.fits:
        talk().print(f"Still about {made.tokens} tokens, because rules and names always stay.")
