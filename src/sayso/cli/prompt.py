"""`sayso prompt`: the system prompt for a model that calls a server's tools."""

import sys
from dataclasses import dataclass
from typing import Annotated, Final

import anyio
from cyclopts import Parameter

from sayso.cli.address import check_seconds
from sayso.cli.explain import Caller
from sayso.cli.policy import read_policy
from sayso.cli.surface import Surface, read_surfaces
from sayso.cli.terminal import plain, print_error, print_error_json, print_json, talk, working
from sayso.connect import parse_target
from sayso.errors import SaysoError
from sayso.policy import Policy
from sayso.prompt import TEMPLATE, Names, Prompt, Variant, build
from sayso.settings import read_text

_SCHEMA: Final = 1


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
    policy: str | None = None,
    json: bool = False,
    timeout: float = 30.0,
    command: Annotated[list[str] | None, Parameter(parse=False)] = None,
) -> int:
    """Write the system prompt for a model that calls the tools of a server, or of several.

    Connects, lists the tools and calls none. Exit code 1 when the budget has no room for what is
    never dropped, the rules and the names.

    Parameters
    ----------
    target
        As for sayso inspect. A command goes after --.
    policy
        A policy.toml. Default: the mode guarded, without rules.
    json
        Print one JSON document.
    timeout
        Seconds to wait for a server.
    """
    form = form or Form()
    check_seconds(timeout, "--timeout")
    words = target if command is None else [*target, *command]
    targets = parse_target(words, is_command=command is not None and not target, command="prompt")
    rules = Policy() if policy is None else read_policy(policy)
    template = TEMPLATE if form.template is None else read_text(form.template)
    with working("Asking for the tools …"):
        found = anyio.run(read_surfaces, targets, timeout)
    if errors := [answer for answer in found if isinstance(answer, SaysoError)]:
        # Without one server's tools it would be another prompt.
        for error in errors:
            (print_error_json if json else print_error)(error)
        return max(error.exit_code for error in errors)
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
        fields = {
            "schema": _SCHEMA,
            "variant": str(variant),
            "tools": made.count,
            "tokens": made.tokens,
            "budget": made.budget,
            "dropped": list(made.dropped),
            "text": made.text,
        }
        print_json(fields | ({"problems": problems} if problems else {}))
        return
    sys.stdout.write(f"{made.text}\n")
    for line in problems:
        talk().print(plain(line))
    if made.dropped:
        talk().print(f"To keep to {made.budget} tokens, dropped: {', '.join(made.dropped)}.")
    if not made.fits:
        talk().print(f"It is about {made.tokens} tokens even so: rules and names always stay.")
