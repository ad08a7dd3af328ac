"""Building the system prompt: what is offered, put into words, within a budget."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sayso.catalog import Tool, as_tools, estimate
from sayso.errors import UsageError
from sayso.intent import Level
from sayso.policy import LOCAL, Policy, Principal, look_at
from sayso.prompt.content import Content
from sayso.prompt.offer import Look, NameOf, Names, Variant, choose_examples, offers, searches
from sayso.prompt.sections import Sections
from sayso.prompt.template import TEMPLATE, render


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt, and how many tokens it has.

    `count` is the number of tools that it offers. `dropped` names what the budget had no room for:
    `examples` or `descriptions`, with the level. Rules and names are never dropped, so a prompt
    may be larger than its budget; `fits` tells.
    """

    text: str
    tokens: int
    count: int
    budget: int | None = None
    dropped: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def fits(self) -> bool:
        """Whether it keeps to its budget; without one it does."""
        return self.budget is None or self.tokens <= self.budget


def build(  # noqa: PLR0913 - each says one thing of its own, and has a default
    tools: Iterable[object],
    *,
    principal: Principal | None = None,
    policy: Policy | None = None,
    variant: Variant = Variant.ENFORCED,
    names: Names | NameOf | None = None,
    budget: int | None = None,
    count: Callable[[str], int] = estimate,
    sections: Sections | None = None,
    template: str = TEMPLATE,
    look: Look = look_at,
) -> Prompt:
    """The system prompt for a model that calls `tools` on behalf of `principal`.

    `tools` are catalog tools, entries of `tools/list`, the SDK's tools or `ToolDefinition`s.
    The prompt is the same, byte for byte, in whatever order they come. `names` are the gateway's
    where it enforces or there are several servers, else the server's; a function gives others.
    `budget` is in tokens as `count` counts them. `look` is for whoever remembers how tools are
    seen. Raises `UsageError` for a budget below 1 and a template with a mistake.

    >>> from sayso.catalog import make_tool
    >>> tools = [make_tool("crm", {"name": "customers_list"})]
    >>> build(tools).text.splitlines()[2].split(". ")[0]
    'You have 1 tool (read: 1)'
    """
    if budget is not None and budget < 1:
        raise UsageError(f"a budget of {budget} tokens is none", fix="Give at least 1.")
    given = tuple(as_tools(tools))
    rules = policy or Policy()
    names = names or _usual_names(given, variant)
    caller = principal or Principal(LOCAL)
    found = offers(given, rules, caller, variant=variant, names=names, look=look)
    whole = Content(
        found,
        choose_examples(found),
        frozenset(Level),
        variant,
        sections or Sections(),
        is_search=searches(rules, variant, names),
    )
    prompt = Prompt("", 0, 0)
    for content, dropped in whole.shrinking():
        text = render(template, content.values())
        prompt = Prompt(text, count(text), len(found), budget, dropped)
        if prompt.fits:
            break
    return prompt


def _usual_names(tools: tuple[Tool, ...], variant: Variant) -> Names:
    servers = {(tool.server, tool.origin) for tool in tools}
    if variant is Variant.ADVISORY and len(servers) <= 1:
        return Names.SERVER
    return Names.GATEWAY
