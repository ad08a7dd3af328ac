"""Offers: the tools that a caller may see and call, with quoted texts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.catalog import Tool
from sayso.intent import Level
from sayso.policy import Effect, Listing, Policy, Principal, ToolFacts, foresee, is_visible, look_at
from sayso.prompt.quotation import TITLE_LIMIT, quote, quote_name, quote_sentence

NameOf = Callable[[Tool], str]
"""Returns the model's name for a tool, for names that `Names` does not offer."""

Look = Callable[[Policy, Tool], tuple[Tool, ToolFacts]]
"""Evaluates a tool under a policy; callers may pass a version with a cache."""


class Variant(StrEnum):
    """The party that asks people: the system that runs the calls, or the model in the chat."""

    ENFORCED = "enforced"
    ADVISORY = "advisory"


class Names(StrEnum):
    """The form of tool names: `server__tool` as in the gateway, or `tool`."""

    GATEWAY = "gateway"
    SERVER = "server"


@dataclass(frozen=True, slots=True, order=True)
class Offer:
    """One tool in a prompt.

    The texts are quoted and bounded, so a template may use them anywhere. `asks` means that some
    calls need approval. `is_listed` means that the model has the tool in its list.
    """

    name: str
    title: str
    description: str
    level: Level
    asks: bool
    is_open: bool
    is_repeatable: bool
    is_listed: bool = True


_TELLING: Final = {Level.READ: "list", Level.WRITE: "create", Level.DESTRUCTIVE: "delete"}
"""Words in names of typical tools of each level."""


def offers(
    tools: Iterable[Tool],
    policy: Policy,
    principal: Principal,
    *,
    variant: Variant,
    names: Names | NameOf,
    look: Look = look_at,
) -> tuple[Offer, ...]:
    """Return the sorted offers for `principal`. Tools that are always denied are left out."""
    views = (look(policy, tool) for tool in tools)
    made = (_offer(policy, principal, *view, variant, names) for view in views)
    return tuple(sorted({offer for offer in made if offer is not None}))


def searches(policy: Policy, variant: Variant, names: Names | NameOf) -> bool:
    """Return whether the model finds tools by search: if the policy of a gateway sets that."""
    is_gateway = variant is Variant.ENFORCED and names is Names.GATEWAY
    return is_gateway and policy.tools is Listing.SEARCH


def choose_examples(found: Iterable[Offer]) -> tuple[Offer, ...]:
    """Return one typical offer of each level."""
    best: dict[Level, Offer] = {}
    for offer in sorted(found, key=_how_telling):
        best.setdefault(offer.level, offer)
    return tuple(best[level] for level in Level if level in best)


def _how_telling(offer: Offer) -> tuple[bool, bool, bool, Offer]:
    is_usual = offer.asks is (offer.level is Level.DESTRUCTIVE)
    return not is_usual, _TELLING[offer.level] not in offer.name.lower(), offer.is_open, offer


def _offer(
    policy: Policy,
    principal: Principal,
    tool: Tool,
    facts: ToolFacts,
    variant: Variant,
    names: Names | NameOf,
) -> Offer | None:
    if not is_visible(policy, principal, facts):
        return None
    decisions = foresee(policy, principal, facts)
    effects = {decision.effect for decision in decisions}
    if variant is Variant.ADVISORY:  # nothing is enforced, so the policy itself counts
        effects = {decision.judged for decision in decisions}
    if effects == {Effect.DENY}:
        return None
    text = tool.raw.get("description")
    if not isinstance(text, str) or not text.strip():
        text = tool.title
    return Offer(
        name=quote_name(_name(tool, names)),
        title=quote(tool.title, TITLE_LIMIT),
        description=quote_sentence(text),
        level=tool.level,
        asks=Effect.CONFIRM in effects,
        is_open=tool.resolved.open_world.value,
        is_repeatable=tool.resolved.idempotent.value,
        is_listed=not searches(policy, variant, names) or policy.is_pinned(tool.qualified_name),
    )


def _name(tool: Tool, names: Names | NameOf) -> str:
    if callable(names):
        return names(tool)
    if names is Names.GATEWAY:
        return tool.qualified_name
    return tool.name
