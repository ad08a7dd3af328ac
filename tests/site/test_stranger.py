"""The stranger's run: every step works, within the limits of time and size."""

from pathlib import Path

import pytest
from tests.site.stranger import LIMIT_MB, MOST_SECONDS, Stay, problems, stay

pytestmark = pytest.mark.proof


def test_a_stranger_comes_to_the_link_of_the_demo(tmp_path: Path) -> None:
    here = stay(tmp_path)

    assert problems(here) == []


def test_what_exceeds_a_limit_is_reported(tmp_path: Path) -> None:
    here = Stay(tmp_path, {"sayso demo: its link": MOST_SECONDS + 1}, {"sayso": LIMIT_MB + 1.0})

    assert len(problems(here)) == 2
