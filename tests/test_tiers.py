"""The tiers hold: what needs a program is marked, and no target tries anything twice."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests import tiers

ROOT = Path(__file__).resolve().parent.parent


class Item:
    """As much of a test as is looked at."""

    def __init__(self, path: str, *fixtures: str, **parameters: Any) -> None:
        self.path = tiers.TESTS / path
        self.fixturenames = fixtures
        self.markers: list[str] = []
        if parameters:
            self.callspec = type("CallSpec", (), {"params": parameters})

    def add_marker(self, name: str) -> None:
        self.markers.append(name)

    def iter_markers(self) -> list[pytest.Mark]:
        return [getattr(pytest.mark, name).mark for name in self.markers]


def markers(path: str, *fixtures: str, **parameters: Any) -> set[str]:
    item: Any = Item(path, *fixtures, **parameters)
    tiers.mark(item)
    return set(item.markers)


def test_a_test_is_marked_by_its_fixtures_parameters_file_and_folder() -> None:
    assert markers("console/test_x.py", "chromium") == {"browser"}
    assert markers("store/test_x.py", "store", place="sqlite") == set()
    assert markers("store/test_x.py", "store", place="postgresql") == {"postgres"}
    assert markers("gateway/test_x.py", kind="stdio", era=object()) == {"process"}
    assert markers("gateway/test_noise.py") == {"npm"}
    assert markers("conformance/test_x.py") == {"proof"}


def test_every_file_and_folder_in_the_table_is_there() -> None:
    places = [place for places in tiers.FILES.values() for place in places]
    assert [place for place in places if not (tiers.TESTS / place).exists()] == []
    assert {*tiers.FILES, *tiers.FIXTURES.values()} <= tiers.NEEDS


def test_a_test_that_starts_a_program_and_has_no_marker_fails() -> None:
    item: Any = Item("x.py")
    started: list[str] = []
    tiers.remember("subprocess.Popen", ("/usr/bin/git", ["git"]), started)
    tiers.remember("open", ("/usr/bin/node",), started)
    tiers.remember("subprocess.Popen", ("python", ["-c", "import sayso.workers"]), started)
    tiers.check(item, started)
    tiers.remember("subprocess.Popen", ("/usr/bin/node", ["node"]), started)
    with pytest.raises(pytest.fail.Exception, match=r"starts node: .* tests/tiers.py"):
        tiers.check(item, started)
    item.add_marker("process")
    tiers.check(item, started)


@pytest.mark.process
def test_what_a_test_starts_is_seen() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=True)
    assert Path(sys.executable).name in tiers.STARTED


def test_examples_go_by_the_profile() -> None:
    shares = {name: number / tiers.EXAMPLES["ordinary"] for name, number in tiers.EXAMPLES.items()}
    share = settings().max_examples / tiers.EXAMPLES["ordinary"]
    assert share in shares.values()
    assert tiers.examples(200) == 200 * share
    assert tiers.examples(1) >= 1


def test_the_targets_name_their_tiers_and_try_nothing_twice() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    quick = re.search(r'QUICK := -m "smoke or not \((.*)\)"', makefile)
    assert quick is not None
    assert set(quick[1].split(" or ")) == tiers.NEEDS
    for name in tiers.EXAMPLES:
        assert f"--hypothesis-profile {name}" in makefile
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for word in ("last-failed", "--lf", "reruns", "flaky"):
        assert word not in makefile + settings
