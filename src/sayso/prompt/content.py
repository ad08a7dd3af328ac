"""The content of a prompt, and the order in which parts are dropped to fit a budget."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sayso.intent import Level
from sayso.prompt.offer import Offer, Variant
from sayso.prompt.sections import Sections


@dataclass(frozen=True, slots=True)
class Content:
    """The input of a template. `described` are the levels whose tools have a description.

    `is_search` means that only some tools are listed, and the model finds the others by search.
    """

    offers: tuple[Offer, ...]
    examples: tuple[Offer, ...]
    described: frozenset[Level]
    variant: Variant
    sections: Sections
    is_search: bool = False

    def values(self) -> dict[str, Any]:
        writers = [offer for offer in self.offers if offer.level is not Level.READ]
        return {
            "enforced": self.variant is Variant.ENFORCED,
            "search": self.is_search,
            "count": len(self.offers),
            "listed": sum(offer.is_listed for offer in self.offers),
            "levels": [self._level(level) for level in Level if self._of(level)],
            "writes": bool(writers),
            "asks": any(offer.asks for offer in self.offers),
            "repeatable": any(writer.is_repeatable for writer in writers),
            "once": any(not writer.is_repeatable for writer in writers),
            "open": any(offer.is_open for offer in self.offers),
            "examples": self.examples,
            "sections": self.sections,
        }

    def shrinking(self) -> Iterator[tuple["Content", tuple[str, ...]]]:
        """Yield ever smaller contents, each with the names of the dropped parts.

        Examples are dropped before descriptions, and parts about reads before destructive tools.
        """
        dropped: tuple[str, ...] = ()
        yield self, dropped
        left = self.examples
        for example in self.examples:
            left = left[1:]
            dropped += (f"examples: {example.level}",)
            yield replace(self, examples=left), dropped
        described = self.described
        for level in Level:
            if self._of(level):
                described -= {level}
                dropped += (f"descriptions: {level}",)
                yield replace(self, examples=(), described=described), dropped

    def _of(self, level: Level) -> list[Offer]:
        return [offer for offer in self.offers if offer.level is level]

    def _level(self, level: Level) -> dict[str, Any]:
        tools = self._of(level)
        parts = ((asks, [offer for offer in tools if offer.asks is asks]) for asks in (False, True))
        return {
            "level": str(level),
            "count": len(tools),
            "described": level in self.described,
            "groups": [_group(group, asks=asks) for asks, group in parts if group],
        }


def _group(tools: list[Offer], *, asks: bool) -> dict[str, Any]:
    listed = [offer for offer in tools if offer.is_listed]
    return {"asks": asks, "count": len(tools), "tools": listed}
