"""Steps that have nothing to do with a call are gone by."""

from avow.guard.concern import CONCERNS
from avow.guard.pipeline import STEPS

KEPT = {"find", "validate", "decide", "outcome", "output", "retry", "attempt", "execute"}


def test_what_every_call_must_take_is_never_gone_by() -> None:
    names = {str(getattr(step, "__name__", "")) for step in STEPS}
    assert {step.__name__ for step in CONCERNS} == names - KEPT
