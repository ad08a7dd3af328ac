"""What a prompt says, apart from its words; and what is left out of it when room is short."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sayso.intent import Level
from sayso.prompt.offer import Offer, Variant
from sayso.prompt.sections import Sections


@dataclass(frozen=True, slots=True)
class Content:
    """What a template may speak of; `described` are the levels whose tools are described.

    `is_search` tells that most tools are found by a search, and only some are listed.
    """

    offers: tuple[Offer, ...]
    examples: tuple[Offer, ...]
    described: frozenset[Level]
    variant: Variant
    sections: Sections
    is_search: bool = False

    def values(self) -> dict[str, Any]:
        """The names of a template."""
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
        """The same with less and less in it, and what was dropped; what matters least goes first.

        Examples go before descriptions, and what only reads before what destroys.
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
        found = self._of(level)
        parts = ((asks, [offer for offer in found if offer.asks is asks]) for asks in (False, True))
        return {
            "level": str(level),
            "count": len(found),
            "described": level in self.described,
            "groups": [_group(tools, asks=asks) for asks, tools in parts if tools],
        }


def _group(tools: list[Offer], *, asks: bool) -> dict[str, Any]:
    listed = [offer for offer in tools if offer.is_listed]
    return {"asks": asks, "count": len(tools), "tools": listed}
