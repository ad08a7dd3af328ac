"""A store outlives an upgrade of sayso, and the way back."""

import os
import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cli.running import environment, sayso
from tests.databases import KINDS, Place, new_places
from tests.store.older import FILL, KEYS, ROOT, extract, load_dump, python, set_version

from sayso.store import VERSION, read_status

pytestmark = pytest.mark.anyio

ROWS = {"records": 6, "approvals": 1, "answers": 1, "grants": 1, "uses": 2}
"""What `fill.py` writes."""
GUIDE = ROOT / "docs" / "guides" / "operating.md"


def rows_of(url: str) -> dict[str, int]:
    rows = read_status(url).rows
    return {table: rows[table] for table in ROWS}


def is_sound(url: str) -> bool:
    done = sayso("audit", "verify", "--store", url, SAYSO_KEYS=KEYS)
    return (done.code, done.out.split(":")[0]) == (0, "sound")


def test_a_store_of_the_commit_before_backups_opens_with_all_it_holds(place: Place) -> None:
    load_dump(place, 9)
    before = sayso("db", "status", "--store", place.url, "--json").json
    assert (before["version"], before["newest_version"]) == (9, VERSION)
    assert sayso("db", "migrate", "--store", place.url, SAYSO_KEYS=KEYS).code == 0
    assert rows_of(place.url) == ROWS
    assert read_status(place.url).version == VERSION
    assert is_sound(place.url)
    calls = sayso("audit", "list", "--store", place.url, "--json", SAYSO_KEYS=KEYS).out
    assert '"customer_id"' in calls


@pytest.mark.parametrize(
    "words",
    [
        ("db", "status"),
        ("db", "migrate"),
        ("db", "backup", "newer.sayso"),
        ("audit", "list"),
    ],
    ids=" ".join,
)
def test_a_store_of_a_newer_sayso_is_refused_and_the_error_names_both_ways_on(
    words: tuple[str, ...], place: Place, tmp_path: Path
) -> None:
    load_dump(place, 9)
    set_version(place, VERSION + 1)
    done = sayso(*words, "--json", "--store", place.url, cwd=tmp_path, SAYSO_KEYS=KEYS)
    assert done.error["code"] == "store"
    what = f"the database is of version {VERSION + 1}; this sayso supports versions to {VERSION}"
    assert done.error["what"] == what
    assert "Install the sayso that wrote it or a newer one" in done.error["fix"]
    assert "sayso db restore" in done.error["fix"]
    assert not (tmp_path / "newer.sayso").exists()
    set_version(place, VERSION)
    assert rows_of(place.url) == ROWS


@pytest.fixture(params=KINDS)
def places(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[tuple[Place, Place]]:
    """Two empty databases of each kind."""
    with new_places(request, tmp_path) as make:
        yield make(), make()


def test_the_backup_from_before_an_upgrade_brings_the_old_tables_back(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    place, other = places
    load_dump(place, 9)
    file = str(tmp_path / "before.sayso")
    assert sayso("db", "backup", file, "--store", place.url, SAYSO_KEYS=KEYS).code == 0
    set_version(place, VERSION + 1)
    restored = sayso("db", "restore", file, "--store", other.url, SAYSO_KEYS=KEYS)
    assert restored.code == 0, restored.err
    assert rows_of(other.url) == ROWS
    assert is_sound(other.url)


@pytest.mark.process
def test_the_commands_of_the_guide_upgrade_and_roll_back(tmp_path: Path) -> None:
    section = GUIDE.read_text(encoding="utf-8").split("\n## Upgrade and roll back\n")[1]
    blocks = re.findall(r"```\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    path = tmp_path / ".local" / "share" / "sayso" / "sayso.db"
    path.parent.mkdir(parents=True)
    place = Place("sqlite", f"sqlite:{path}")
    load_dump(place, 9)
    programs = tmp_path / "bin"
    programs.mkdir()
    written = {"systemctl": "exit 0", "sayso": f'exec "{sys.executable}" -m sayso "$@"'}
    for name, line in written.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    variables = environment(
        HOME=str(tmp_path), PATH=f"{programs}{os.pathsep}{os.environ['PATH']}", SAYSO_KEYS=KEYS
    )
    assert len(blocks) == 3
    for block in blocks:
        command = ["sh", "-e", "-c", block]
        done = subprocess.run(
            command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        # After the upgrade, as if it had been to newer tables.
        if block == blocks[1]:
            set_version(place, VERSION + 1)
    assert "sayso db restore" in blocks[2]
    assert rows_of(place.url) == ROWS
    assert is_sound(place.url)


@pytest.mark.proof
def test_the_older_sayso_goes_on_where_the_newer_one_ended(place: Place, tmp_path: Path) -> None:
    old = extract(tmp_path / "old")
    python(old, str(FILL), place.url)
    assert rows_of(place.url) == ROWS
    python(ROOT, str(FILL), place.url)
    assert is_sound(place.url)
    python(old, str(FILL), place.url)
    python(old, "-m", "sayso", "audit", "verify", "--store", place.url)
    assert is_sound(place.url)
    assert rows_of(place.url) == {**ROWS, "records": 16}
