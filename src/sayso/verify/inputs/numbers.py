"""Numbers within the bounds of a schema."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from sayso.fields import is_number
from sayso.verify.inputs.flattener import Schema

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_FAR: Final = 100_000
"""The bound for schemas without bounds. Larger numbers are rarely useful arguments."""


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `least` to `most`, each times `step`."""

    least: int
    most: int
    step: Fraction = Fraction(1)

    def at(self, index: int) -> int | float:
        """Return the number `index` steps from 0."""
        value = self.step * index
        if value.denominator == 1:
            return int(value)
        return float(value)

    def strategy(self) -> "SearchStrategy[Any]":
        """Return a strategy for the numbers, the number nearest to 0 first."""
        from hypothesis import strategies as st  # noqa: PLC0415 - an extra

        return st.integers(self.least, self.most).map(self.at)


def bounds(schema: Schema) -> tuple[float | None, float | None]:
    """Return the lower and upper bound of a schema, whether inclusive or exclusive."""
    lows = [_number(schema.get(key)) for key in ("minimum", "exclusiveMinimum")]
    highs = [_number(schema.get(key)) for key in ("maximum", "exclusiveMaximum")]
    return (
        max((low for low in lows if low is not None), default=None),
        min((high for high in highs if high is not None), default=None),
    )


def integer_range(schema: Schema) -> Range | None:
    """Return the whole numbers that fit a schema, or `None` if no number fits."""
    step = Fraction(_number(schema.get("multipleOf")) or 1).limit_denominator(10**9)
    step = Fraction(math.lcm(step.numerator, step.denominator), step.denominator)
    return _steps(schema, step)


def number_range(schema: Schema) -> "SearchStrategy[Any] | None":
    """Return a strategy for numbers that fit, mostly small ones, or `None` if no number fits."""
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    step = _number(schema.get("multipleOf"))
    whole = _steps(schema, Fraction(str(step or 1)))
    if step:
        return whole and whole.strategy()
    low, high = bounds(schema)
    if low is None and (high is None or high > -_FAR):
        low = -float(_FAR)
    if high is None and (low is None or low < _FAR):
        high = float(_FAR)
    if low is not None and high is not None and low > high:
        return None
    parts = st.floats(
        low,
        high,
        allow_nan=False,
        allow_infinity=False,
        exclude_min=low is not None and schema.get("exclusiveMinimum") == low and low != high,
        exclude_max=high is not None and schema.get("exclusiveMaximum") == high and low != high,
        allow_subnormal=False,
    )
    if whole is None:
        return parts
    return st.one_of(whole.strategy(), parts)


def _steps(schema: Schema, step: Fraction) -> Range | None:
    low, high = bounds(schema)
    first: int | None = None
    last: int | None = None
    if low is not None:
        first = math.ceil(Fraction(low) / step)
        if low == schema.get("exclusiveMinimum") and step * first == low:
            first += 1
    if high is not None:
        last = math.floor(Fraction(high) / step)
        if high == schema.get("exclusiveMaximum") and step * last == high:
            last -= 1
    if first is None:
        first = min(-_FAR, (last or 0) - _FAR)
    if last is None:
        last = max(_FAR, first + _FAR)
    if first > last:
        return None
    return Range(first, last, step)


def _number(value: object) -> float | int | None:
    return value if is_number(value) else None
