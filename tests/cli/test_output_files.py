"""Options that name a file to write: a mistake ends the command before it has done anything."""

import sys
from pathlib import Path

import pytest
from tests.cli.running import sayso, write_json
from tests.receipts.reports import key_in

from sayso.cli.output_files import check_writable
from sayso.errors import UsageError

RUN = "from pathlib import Path\nPath({!r}).touch()\n"


def server(folder: Path) -> tuple[str, str]:
    """A server that leaves a mark when it is started, and its mark."""
    file, mark = folder / "server.py", folder / "started"
    file.write_text(RUN.format(str(mark)))
    return str(file), str(mark)


def test_the_folder_of_a_file_is_made(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "folder" / "x.json", "--receipt")
    assert [one.name for one in (tmp_path / "new" / "folder").iterdir()] == []


def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("kept")
    check_writable(tmp_path / "x", "--output")
    assert (tmp_path / "x").read_text() == "kept"


@pytest.mark.parametrize("name", [".", "file/x.json", "file/new/x.json"])
def test_what_cannot_be_written_names_the_option(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"--receipt .* cannot be written"):
        check_writable(tmp_path / name, "--receipt")


@pytest.mark.parametrize("option", ["--receipt", "--output"])
@pytest.mark.process
def test_verify_runs_nothing_if_its_result_could_not_be_written(
    tmp_path: Path, option: str
) -> None:
    file, mark = server(tmp_path)
    key_in(tmp_path)
    words = ["--key", str(tmp_path / "ci.key")] if option == "--receipt" else []
    where = f"{file}/new/x.json"
    done = sayso("verify", option, where, *words, "--json", "--", sys.executable, file)
    assert done.code == 2
    assert f"{option} {where} cannot be written" in done.error["what"]
    assert not Path(mark).exists()


@pytest.mark.process
def test_verify_runs_nothing_if_the_key_is_none(tmp_path: Path) -> None:
    file, mark = server(tmp_path)
    words = ("--receipt", str(tmp_path / "r.json"), "--key", str(tmp_path / "none.key"))
    assert sayso("verify", *words, "--", sys.executable, file).code == 2
    assert not Path(mark).exists()


@pytest.mark.process
def test_verify_makes_no_receipt_of_what_cannot_be_told_and_says_so_first(tmp_path: Path) -> None:
    file, mark = server(tmp_path)
    key_in(tmp_path)
    words = ("--receipt", str(tmp_path / "new" / "r.json"), "--key", str(tmp_path / "ci.key"))
    done = sayso("verify", *words, "--json", "--", sys.executable, "-u", file)
    assert done.code == 2
    assert "--receipt needs a known package" in done.err
    assert not Path(mark).exists()


def test_the_folder_of_a_submission_is_checked_first(tmp_path: Path) -> None:
    saved = write_json(tmp_path / "tools.json", {"tools": []})
    done = sayso("submit", "openai", saved, "--out", f"{saved}/new", "--json")
    assert "--out" in done.error["what"]
