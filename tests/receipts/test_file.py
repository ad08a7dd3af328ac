"""Receipts as files: what is written, what is read, and what stops nothing."""

import json
import os
from pathlib import Path

import pytest
from tests.receipts.reports import hint, key_in, report, signed, statement, written

from sayso.errors import ConfigError, ReceiptError
from sayso.receipts import file as file_module
from sayso.receipts import load_receipts, read_receipt, write_receipt
from sayso.receipts.file import MAX_BYTES, make_receipt, read_report


def test_a_receipt_that_was_written_is_read_again(tmp_path: Path) -> None:
    key, file = key_in(tmp_path), tmp_path / "r.json"
    write_receipt(report(), key, file)
    write_receipt(report().to_dict(), tmp_path / "ci.key", file)
    envelope, receipt = read_receipt(file)
    assert envelope.is_signed_by(key.public)
    assert receipt.tools[0].is_signed_by(key.public)
    assert receipt.tools[0].where == "r.json"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ci.key", "r.json"]


def test_where_it_cannot_be_written_nothing_is_left(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    (tmp_path / "taken").mkdir()
    with pytest.raises(ConfigError, match="cannot write the receipt"):
        write_receipt(report(), key, tmp_path / "taken")
    with pytest.raises(ConfigError, match="cannot write the receipt"):
        write_receipt(report(), key, tmp_path / "none" / "r.json")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ci.key", "taken"]


def test_what_json_cannot_say_is_not_signed(tmp_path: Path) -> None:
    told = report(read_only=hint("supported", 3, ("\ud800",))).to_dict()
    with pytest.raises(ReceiptError, match="not valid JSON"):
        make_receipt(told, key_in(tmp_path))


def test_a_receipt_that_nobody_would_read_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_module, "MAX_BYTES", 100)
    with pytest.raises(ReceiptError, match="larger than"):
        make_receipt(report(), key_in(tmp_path))


def test_all_that_is_broken_is_told_and_the_rest_counts(tmp_path: Path) -> None:
    key = key_in(tmp_path)
    folder = tmp_path / "receipts"
    folder.mkdir()
    good = signed(statement(), key)
    written(folder, good, "a.json")
    written(folder, "no receipt", "b.json")
    written(folder, signed("no statement", key), "c.json")
    written(folder, {**good, "payload": "////"}, "d.json")
    written(folder, "x" * (MAX_BYTES + 1), "e.json")
    os.mkfifo(folder / "f.json")
    (folder / "g.json").mkdir()
    (folder / "h.json").symlink_to("/dev/zero")
    (folder / "i.json").symlink_to("i.json")
    (folder / "j.json").symlink_to(written(tmp_path, good, "outside.json"))
    (folder / "k.json").symlink_to("gone.json")
    (folder / "l.json").symlink_to("a.json")
    written(folder, good, "not-one.txt")
    shelf = load_receipts(folder)
    assert [one.tools[0].where for one in shelf.receipts] == ["a.json", "l.json"]
    assert len(shelf.problems) == 10
    told = "\n".join(shelf.problems)
    for name, what in {
        "b": "not JSON",
        "c": "not an object",
        "d": "payload is not JSON",
        "e": "larger than 4 MB",
        "f": "not a regular file",
        "g": "Is a directory",
        "h": "links outside",
        "i": "links outside",
        "j": "links outside",
        "k": "cannot read the receipt",
    }.items():
        (line,) = [one for one in shelf.problems if f"{name}.json" in one]
        assert what in line, told


def test_one_file_may_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, signed(statement(), key_in(tmp_path)), "r.intoto")
    assert load_receipts(file)
    assert load_receipts(file).problems == ()


def test_a_folder_that_is_not_there_stops_nothing(tmp_path: Path) -> None:
    shelf = load_receipts(tmp_path / "none")
    assert not shelf
    assert "No such file" in shelf.problems[0]


def test_a_folder_of_too_many_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_module, "MAX_FILES", 1)
    for name in ("a.json", "b.json"):
        written(tmp_path, signed(statement(), key_in(tmp_path, name)), name)
    shelf = load_receipts(tmp_path)
    assert len(shelf.receipts) == 1
    assert "more than 1" in shelf.problems[0]


def test_a_report_is_read_as_it_was_printed(tmp_path: Path) -> None:
    file = written(tmp_path, report().to_dict(), "report.json")
    assert read_report(file) == json.loads(json.dumps(report().to_dict()))


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2}', "[" * 100_000])
def test_what_is_no_report_is_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="report"):
        read_report(written(tmp_path, text, "report.json"))
    with pytest.raises(ConfigError, match="cannot read the report"):
        read_report(tmp_path / "none.json")
