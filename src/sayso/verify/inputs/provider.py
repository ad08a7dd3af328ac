"""hypothesis' source of choices, without constants of loaded modules."""

from typing import Any

from hypothesis.internal.conjecture.providers import HypothesisProvider


class PlainProvider(HypothesisProvider):
    """hypothesis' provider, without constants of loaded modules."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None
