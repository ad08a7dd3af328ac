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
        writers = [one for one in self.offers if one.level is not Level.READ]
        return {
            "enforced": self.variant is Variant.ENFORCED,
            "search": self.is_search,
            "count": len(self.offers),
            "listed": sum(one.is_listed for one in self.offers),
            "levels": [self._level(one) for one in Level if self._of(one)],
            "writes": bool(writers),
            "asks": any(one.asks for one in self.offers),
            "repeatable": any(one.is_repeatable for one in writers),
            "once": any(not one.is_repeatable for one in writers),
            "open": any(one.is_open for one in self.offers),
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
        for one in self.examples:
            left = left[1:]
            dropped += (f"examples: {one.level}",)
            yield replace(self, examples=left), dropped
        described = self.described
        for level in Level:
            if self._of(level):
                described -= {level}
                dropped += (f"descriptions: {level}",)
                yield replace(self, examples=(), described=described), dropped

    def _of(self, level: Level) -> list[Offer]:
        return [one for one in self.offers if one.level is level]

    def _level(self, level: Level) -> dict[str, Any]:
        found = self._of(level)
        parts = ((asks, [one for one in found if one.asks is asks]) for asks in (False, True))
        return {
            "level": str(level),
            "count": len(found),
            "described": level in self.described,
            "groups": [_group(tools, asks=asks) for asks, tools in parts if tools],
        }


def _group(tools: list[Offer], *, asks: bool) -> dict[str, Any]:
    listed = [one for one in tools if one.is_listed]
    return {"asks": asks, "count": len(tools), "tools": listed}
