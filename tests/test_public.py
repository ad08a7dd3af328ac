"""The face of the package: small, sorted, lazy."""

import subprocess
import sys

import pytest

import sayso


def test_all_is_sorted_and_every_name_is_there() -> None:
    assert sayso.__all__ == sorted(sayso.__all__, key=_as_ruff_sorts)
    for name in sayso.__all__:
        assert getattr(sayso, name) is not None
    assert set(sayso.__all__) <= set(dir(sayso))


def _as_ruff_sorts(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'sayso' has no attribute 'nothing'"):
        _ = sayso.nothing  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue]


@pytest.mark.process
def test_importing_sayso_imports_no_sdk_and_nothing_heavy() -> None:
    heavy = ["mcp", "mcp_types", "pydantic", "anyio", "asyncio", "starlette", "jinja2", "click"]
    code = f"import sys, sayso; print([one for one in {heavy!r} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_no_public_name_is_a_package_of_sayso() -> None:
    import pkgutil

    assert set(sayso.__all__).isdisjoint(one.name for one in pkgutil.iter_modules(sayso.__path__))
