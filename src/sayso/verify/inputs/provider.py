"""The source of choices that hypothesis draws from, without what depends on loaded modules."""

from typing import Any

from hypothesis.internal.conjecture.providers import HypothesisProvider


class PlainProvider(HypothesisProvider):
    """Its own, but for the constants that it reads from the modules in memory."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None
