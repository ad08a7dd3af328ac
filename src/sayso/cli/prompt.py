"""`sayso prompt`: the system prompt for a model that calls a server's tools."""

import sys
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from sayso.cli.explain import Caller
from sayso.cli.options import Command, Json, PolicyPath, Timeout, targets_of
from sayso.cli.policy import read_policy
from sayso.cli.surface import Surface, ask_surfaces, errors_in
from sayso.cli.terminal import plain, print_document, print_errors, talk
from sayso.prompt import TEMPLATE, Names, Prompt, Variant, build
from sayso.settings import read_text


@dataclass(frozen=True, slots=True)
class Form:
    """How the prompt is written."""

    advisory: bool = False
    """Nothing enforces the policy: the model itself asks the person, and waits."""

    budget: int | None = None
    """Tokens that there is room for, as estimated; examples go first, then descriptions."""

    names: Names | None = None
    """Whose names the model calls tools by. Default: the gateway's; with --advisory and one
    server, the server's."""

    template: str | None = None
    """A file with a Jinja2 template of your own."""


def prompt(
    *target: str,
    form: Annotated[Form | None, Parameter(name="*")] = None,
    caller: Annotated[Caller | None, Parameter(name="*")] = None,
    policy: PolicyPath = None,
    json: Json = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Write the system prompt for a model that calls the tools of a server, or of several.

    Connects, lists the tools and calls none. Exit code 1 when the budget has no room for what is
    never dropped, the rules and the names.

    Parameters
    ----------
    target
        As for sayso inspect. A command goes after --.
    """
    form = form or Form()
    targets = targets_of(target, command, "prompt")
    rules = read_policy(policy)
    template = TEMPLATE
    if form.template is not None:
        template = read_text(form.template)
    found = ask_surfaces(targets, timeout)
    if errors := errors_in(found):
        # Without one server's tools it would be another prompt.
        return print_errors(errors, is_json=json)
    surfaces = [answer for answer in found if isinstance(answer, Surface)]
    variant = Variant.ADVISORY if form.advisory else Variant.ENFORCED
    made = build(
        [tool for surface in surfaces for tool in surface.tools],
        principal=(caller or Caller()).principal,
        policy=rules,
        variant=variant,
        names=form.names,
        budget=form.budget,
        template=template,
    )
    _print(made, variant, surfaces, is_json=json)
    return int(not made.fits)


def _print(made: Prompt, variant: Variant, surfaces: list[Surface], *, is_json: bool) -> None:
    problems = [problem for surface in surfaces for problem in surface.problems]
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
        talk().print(f"To keep to {made.budget} tokens, dropped: {', '.join(made.dropped)}.")
    if not made.fits:
        talk().print(f"It is about {made.tokens} tokens even so: rules and names always stay.")
