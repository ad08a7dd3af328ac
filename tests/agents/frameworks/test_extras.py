"""Errors of a framework that is not installed."""

import sys
from importlib import import_module

import pytest

from sayso.errors import UsageError
from sayso.extras import install_fix


@pytest.mark.parametrize(
    ("module", "needed", "extra"),
    [("pydantic_ai", "pydantic_ai", "pydantic-ai"), ("openai_agents", "agents", "openai-agents")],
)
def test_without_the_framework_the_error_names_the_extra(
    module: str, needed: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"sayso.agents.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, needed, None)
    with pytest.raises(UsageError, match="is not installed") as caught:
        import_module(name)
    assert caught.value.fix == install_fix(extra)
