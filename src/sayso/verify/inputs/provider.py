"""A provider for hypothesis, whose draws do not depend on the loaded modules."""

from typing import Any

from hypothesis.internal.conjecture.providers import HypothesisProvider


class PlainProvider(HypothesisProvider):
    """hypothesis' own provider, except that it never draws a constant of a loaded module."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None
