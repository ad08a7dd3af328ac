"""Drawing values from a strategy of hypothesis: few, outside of a test, the same for one seed."""

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
    """Raise `UsageError` where hypothesis is not installed."""
    if find_spec("hypothesis") is None:
        raise UsageError("making inputs needs hypothesis", fix=install_fix("verify"))


def draw(strategy: "SearchStrategy[Any]", count: int, *, seed: int) -> list[Any]:
    """At most `count` values, the simplest first; fewer where few can be found, or none.

    Nothing is kept between runs, and nothing depends on which modules are loaded: hypothesis mixes
    in constants of the code that it finds in memory, which its provider here leaves out.
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
        """The same without its description, which may be megabytes and is made for each draw."""
        return take(strategy)

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
    """Its tables of Unicode go to the person's cache, not into the folder sayso was started in."""
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
