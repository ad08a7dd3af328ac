"""The builder of the system prompt, within a budget of tokens."""

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
    """A system prompt, with its number of tokens and its number of tools (`count`).

    `dropped` names the parts dropped for the budget: `examples` or `descriptions`, with the level.
    Rules and names are never dropped, so a prompt may exceed its budget; check `fits`.
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
        return self.budget is None or self.tokens <= self.budget


def build(  # noqa: PLR0913 - independent options with defaults
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
    """Build the system prompt for a model that calls `tools` on behalf of `principal`.

    `tools` are catalog tools, entries of `tools/list`, SDK tools or `ToolDefinition`s, in any
    order. `names` may be a function. Its default is the server's names for one server in the
    advisory variant, else the gateway's names. `budget` is in tokens, as counted by `count`. `look`
    evaluates tools under the policy; callers with a cache may pass their own. Raises `UsageError`
    for a budget below 1 and for an invalid template.

    >>> from sayso.catalog import make_tool
    >>> tools = [make_tool("crm", {"name": "customers_list"})]
    >>> build(tools).text.splitlines()[2].split(". ")[0]
    'You have 1 tool (read: 1)'
    """
    if budget is not None and budget < 1:
        raise UsageError(f"budget must be at least 1 token, got {budget}")
    given = tuple(as_tools(tools))
    rules = policy or Policy()
    names = names or _usual_names(given, variant)
    caller = principal or Principal(LOCAL)
    offered = offers(given, rules, caller, variant=variant, names=names, look=look)
    whole = Content(
        offered,
        choose_examples(offered),
        frozenset(Level),
        variant,
        sections or Sections(),
        is_search=searches(rules, variant, names),
    )
    prompt = Prompt("", 0, 0)
    for content, dropped in whole.shrinking():
        text = render(template, content.values())
        prompt = Prompt(text, count(text), len(offered), budget, dropped)
        if prompt.fits:
            break
    return prompt


def _usual_names(tools: tuple[Tool, ...], variant: Variant) -> Names:
    servers = {(tool.server, tool.origin) for tool in tools}
    if variant is Variant.ADVISORY and len(servers) <= 1:
        return Names.SERVER
    return Names.GATEWAY
