"""What is offered: the tools a caller may see and call, in the words of the servers, quoted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sayso.catalog import Tool
from sayso.intent import Level
from sayso.policy import (
    Effect,
    Listing,
    Policy,
    Principal,
    ToolFacts,
    foresee,
    is_visible,
    look_at,
)
from sayso.prompt.quotation import TITLE_LIMIT, quote, quote_name, quote_sentence

NameOf = Callable[[Tool], str]
"""How the model calls a tool, where that is neither its name nor the gateway's."""

Look = Callable[[Policy, Tool], tuple[Tool, ToolFacts]]
"""How a tool is seen under a policy; a caller that remembers it gives a way of its own."""


class Variant(StrEnum):
    """Who asks the person: the system that runs the calls, or the model itself, in the chat."""

    ENFORCED = "enforced"
    ADVISORY = "advisory"


class Names(StrEnum):
    """Whose names the model calls tools by: `server__tool`, as behind the gateway, or `tool`."""

    GATEWAY = "gateway"
    SERVER = "server"


@dataclass(frozen=True, slots=True, order=True)
class Offer:
    """One tool as a prompt speaks of it.

    The texts are quoted and bounded: a template may put them anywhere. `asks` tells that a call
    waits for a person, or that some do; `is_listed` that the model has the tool in its list.
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
"""The word in a name by which a tool shows best what its level means."""


def offers(
    tools: Iterable[Tool],
    policy: Policy,
    principal: Principal,
    *,
    variant: Variant,
    names: Names | NameOf,
    look: Look = look_at,
) -> tuple[Offer, ...]:
    """What `principal` may call, sorted: what would always be denied is not offered."""
    seen = (look(policy, tool) for tool in tools)
    found = (_offer(policy, principal, *view, variant, names) for view in seen)
    return tuple(sorted({offer for offer in found if offer is not None}))


def searches(policy: Policy, variant: Variant, names: Names | NameOf) -> bool:
    """Whether the model finds tools by a search: behind the gateway, where the policy says so."""
    is_gateway = variant is Variant.ENFORCED and names is Names.GATEWAY
    return is_gateway and policy.tools is Listing.SEARCH


def choose_examples(found: Iterable[Offer]) -> tuple[Offer, ...]:
    """One offer of each level that is there: one that does what is usual at its level."""
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
    seen: Tool,
    facts: ToolFacts,
    variant: Variant,
    names: Names | NameOf,
) -> Offer | None:
    if not is_visible(policy, principal, facts):
        return None
    decisions = foresee(policy, principal, facts)
    effects = {decision.effect for decision in decisions}
    if variant is Variant.ADVISORY:  # nothing is enforced, so what the policy says is all there is
        effects = {decision.judged for decision in decisions}
    if effects == {Effect.DENY}:
        return None
    said = seen.raw.get("description")
    if not isinstance(said, str) or not said.strip():
        said = seen.title
    return Offer(
        name=quote_name(_name(seen, names)),
        title=quote(seen.title, TITLE_LIMIT),
        description=quote_sentence(said),
        level=seen.level,
        asks=Effect.CONFIRM in effects,
        is_open=seen.resolved.open_world.value,
        is_repeatable=seen.resolved.idempotent.value,
        is_listed=not searches(policy, variant, names) or policy.is_pinned(seen.qualified_name),
    )


def _name(tool: Tool, names: Names | NameOf) -> str:
    if callable(names):
        return names(tool)
    if names is Names.GATEWAY:
        return tool.qualified_name
    return tool.name
