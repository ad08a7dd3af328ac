"""docs/guides/access.md: its files load, and it names every key."""

import re
from pathlib import Path

import pytest

from sayso.access import load_access
from sayso.access.load import ACCESS
from sayso.connect import UrlTarget, parse_target
from sayso.settings.shape import Table

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "access.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_every_file_on_the_page_loads(text: str) -> None:
    settings = load_access(text)
    assert settings.oauth or settings.has_api_keys


def test_the_configuration_on_the_page_is_read(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "mcp.json"
    path.write_text(text)
    (target,) = parse_target([str(path)])
    assert isinstance(target, UrlTarget)
    assert target.auth is not None


def keys_of(table: Table) -> list[str]:
    inner = [one.shape for one in table.keys.values() if isinstance(one.shape, Table)]
    return [*table.keys, *(name for one in inner for name in keys_of(one))]


@pytest.mark.parametrize("name", sorted({*keys_of(ACCESS)}))
def test_every_key_is_named(name: str) -> None:
    assert re.search(rf"\b{name}\b", PAGE)
