"""Draw a few values from a hypothesis strategy outside of tests; a seed makes this repeatable."""

import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from copy import deepcopy
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from sayso.errors import UsageError
from sayso.extras import install_fix

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_BACKEND = "sayso"


def check_installed() -> None:
    """Raise `UsageError` if hypothesis is not installed."""
    if find_spec("hypothesis") is None:
        raise UsageError("hypothesis is not installed", fix=install_fix("verify"))


def draw(strategy: "SearchStrategy[Any]", count: int, *, seed: int) -> list[Any]:
    """Draw at most `count` values, the simplest first; there may be none.

    Nothing is stored between runs. By default, hypothesis also draws constants from loaded modules.
    sayso's provider does not, so the result does not depend on what is loaded.
    """
    check_installed()
    import hypothesis  # noqa: PLC0415 - an extra
    from hypothesis import strategies as st  # noqa: PLC0415
    from hypothesis.errors import HypothesisException, HypothesisWarning  # noqa: PLC0415
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS  # noqa: PLC0415

    AVAILABLE_PROVIDERS.setdefault(_BACKEND, "sayso.verify.inputs.provider.PlainProvider")
    found: list[Any] = []

    @st.composite
    def nameless(take: st.DrawFn) -> Any:
        return take(strategy)  # so that hypothesis does not describe `strategy` at length

    def collect(value: Any) -> None:
        found.append(deepcopy(value))

    check = hypothesis.HealthCheck
    settings = hypothesis.settings(
        max_examples=max(count, 1),
        backend=_BACKEND,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=[
            check.data_too_large,
            check.filter_too_much,
            check.large_base_example,
            check.nested_given,
            check.too_slow,
        ],
    )
    with _home(), warnings.catch_warnings(), suppress(HypothesisException):
        warnings.simplefilter("ignore", HypothesisWarning)
        hypothesis.seed(seed)(settings(hypothesis.given(nameless())(collect)))()
    return found[:count]


@contextmanager
def _home() -> Generator[None]:
    """Make hypothesis store its Unicode tables in the user's cache, not in the working folder."""
    from hypothesis.configuration import (  # noqa: PLC0415 - an extra
        set_hypothesis_home_dir,
        storage_directory,
    )

    before = storage_directory("tables", intent_to_write=False).home_directory
    set_hypothesis_home_dir(user_cache_path("sayso") / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(before)
