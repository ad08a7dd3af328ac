import io
import json
import os
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.trace.effect import Loss
from sayso.verify.grade.readers import compare_contents
from sayso.verify.grade.readers.gitindex import entries
from sayso.verify.grade.readers.parts import parse, read_parts

SHEET = '<worksheet xmlns="urn:x"><sheetData>{rows}</sheetData></worksheet>'
BOOK = (
    '<workbook xmlns="urn:x" xmlns:r="urn:r"><sheets><sheet name="One" r:id="r1"/></sheets>'
    "</workbook>"
)
LINKS = (
    '<Relationships xmlns="urn:x"><Relationship Id="r1" Target="worksheets/s.xml"/></Relationships>'
)


def zipped(parts: dict[str, str]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return content.getvalue()


def book(rows: list[list[str]], *, changed: str = "2026", name: str = "One") -> bytes:
    """A workbook, with shared strings as Excel writes them."""
    words = sorted({cell for row in rows for cell in row})
    lines = "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{"ABCDEF"[at]}{number}" t="s"><v>{words.index(cell)}</v></c>'
            for at, cell in enumerate(row)
        )
        + "</row>"
        for number, row in enumerate(rows, start=1)
    )
    strings = "".join(f"<si><t>{word}</t></si>" for word in words)
    return zipped(
        {
            "xl/workbook.xml": BOOK.replace("One", name),
            "xl/_rels/workbook.xml.rels": LINKS,
            "xl/sharedStrings.xml": f"<sst>{strings}</sst>",
            "xl/worksheets/s.xml": SHEET.format(rows=lines),
            "docProps/core.xml": f"<modified>{changed}</modified>",
        }
    )


def paper(*paragraphs: str, changed: str = "2026", cell: str = "") -> bytes:
    body = "".join(f"<w:p><w:r><w:t>{one}</w:t></w:r></w:p>" for one in paragraphs)
    body += f"<w:tbl><w:tc><w:p><w:t>{cell}</w:t></w:p></w:tc></w:tbl>"
    document = f'<w:document xmlns:w="urn:w"><w:body>{body}</w:body></w:document>'
    return zipped({"word/document.xml": document, "docProps/core.xml": f"<m>{changed}</m>"})


def told(path: str, before: bytes | str, after: bytes | str) -> tuple[str, bool, Loss] | None:
    old, new = (one.encode() if isinstance(one, str) else one for one in (before, after))
    found = compare_contents(path, old, new)
    return None if found is None else (found[0], found[1].is_same, found[1].loss)


NONE, OVERWROTE, LOST = Loss.NONE, Loss.OVERWROTE, Loss.LOST


@pytest.mark.parametrize(
    ("path", "before", "after", "expected"),
    [
        ("a.json", '{"a": 1, "b": [1]}', '{\n "b": [1],\n "a": 1}\n', ("json", True, NONE)),
        ("a.json", '{"a": 1}', '{"a": 1, "b": 2}', ("json", False, NONE)),
        ("a.json", '{"a": 1}', '{"a": 2}', ("json", False, OVERWROTE)),
        ("a.json", '{"a": {"x": 1}, "b": {}}', '{"b": {}}', ("json", False, LOST)),
        (
            "a.json",
            '{"amy": {"age": 1, "town": "x"}}',
            '{"amy": {"age": 1}}',
            ("json", False, OVERWROTE),
        ),
        ("a.json", '[{"id": 1}, {"id": 2}]', '[{"id": 2}]', ("json", False, LOST)),
        ("a.json", '[{"id": 1, "t": "a"}]', '[{"id": 1, "t": "b"}]', ("json", False, OVERWROTE)),
        ("a.json", '{"notes": ["a", "b"]}', '{"notes": ["a"]}', ("json", False, LOST)),
        (
            "a.json",
            '{"u": {"tags": ["a", "b"]}}',
            '{"u": {"tags": ["a"]}}',
            ("json", False, OVERWROTE),
        ),
        ("a.json", '{"a": 1}', "", ("jsonl", False, LOST)),
        ("a.jsonl", '{"id":1}\n{"id":2}\n', '{"id": 1}\n{"id": 2}\n', ("jsonl", True, NONE)),
        (
            "a.jsonl",
            '{"id":1}\n{"id":2}\n',
            '{"id":2}\n{"id":1}\n{"id":3}\n',
            ("jsonl", False, NONE),
        ),
        ("a.jsonl", '{"id":1}\n{"id":2}\n', '{"id":2}\n', ("jsonl", False, LOST)),
        ("a.txt", "one\ntwo\n", "zero\none\ntwo\n", ("text", False, NONE)),
        ("a.txt", "one\ntwo\n", "two\n", ("text", False, LOST)),
        ("a.txt", "buy milk today\ntwo\n", "buy milk tomorrow\ntwo\n", ("text", False, OVERWROTE)),
        ("a.txt", "buy milk today\ntwo\n", "xyz\ntwo\n", ("text", False, LOST)),
        ("a.csv", 'id,n\n1,"a"\n2,b\n', "id,n\n1,a\n2,b\n", ("csv", True, NONE)),
        ("a.csv", "id,n\n1,a\n2,b\n", "id,n\n1,c\n2,b\n3,d\n", ("csv", False, OVERWROTE)),
        ("a.csv", "id,n\n1,a\n2,b\n", "id,n\n2,b\n", ("csv", False, LOST)),
        ("a.ini", "[s]\na = 1\n", "[s]\na = 2\nb = 3\n", ("ini", False, OVERWROTE)),
        ("a.toml", "[s]\na = 1\nb = 2\n", "[s]\na = 1\n", ("toml", False, LOST)),
        (
            "box",
            "From a\nX: 1\n\nhi\nFrom b\nX: 2\n",
            "From a\nX: 1\nStatus: R\n\nhi\nFrom b\nX: 2\n",
            ("text", False, NONE),
        ),
        ("box", "From a\n\nhi\nFrom b\n\nho\n", "From b\n\nho\n", ("text", False, LOST)),
        ("count", "5\n", "6\n", ("text", False, OVERWROTE)),
        ("a.bin", b"\x00\x01\x02", b"\x00\x03\x02", None),
        ("a.xlsx", book([["a", "b"]]), book([["a", "b"]], changed="2027"), ("xlsx", True, NONE)),
        ("a.xlsx", book([["a", "b"]]), book([["a", "b"], ["0", "d"]]), ("xlsx", False, NONE)),
        ("a.xlsx", book([["a", "b"]]), book([["a", "c"]]), ("xlsx", False, OVERWROTE)),
        ("a.xlsx", book([["a"], ["b"], ["c"]]), book([["a"], ["c"]]), ("xlsx", False, LOST)),
        ("a.docx", paper("one", "two"), paper("one", "two", changed="2027"), ("docx", True, NONE)),
        ("a.docx", paper("one", "two"), paper("one", "two", "three"), ("docx", False, NONE)),
        ("a.docx", paper(cell="x"), paper(cell="quite another"), ("docx", False, OVERWROTE)),
        ("a.docx", paper("one", "two"), paper("two"), ("docx", False, LOST)),
        ("a.docx", paper("one", "two"), zipped({"x": "y"}), ("docx", False, LOST)),
        ("a.xlsx", book([["a"]]), book([["a"]], name="Two"), ("xlsx", False, OVERWROTE)),
        ("a.xlsx", book([["a"]]), b"garbage", ("xlsx", False, LOST)),
    ],
)
def test_a_change_of_a_file_is_told_by_its_records(
    path: str, before: bytes | str, after: bytes | str, expected: tuple[str, bool, Loss] | None
) -> None:
    assert told(path, before, after) == expected


@pytest.mark.process
def test_an_index_of_git_that_is_written_anew_means_the_same(repository: Path) -> None:
    index = repository / ".git" / "index"
    before = index.read_bytes()
    os.utime(repository / "a.txt", (1, 1))
    subprocess.run(["git", "-C", str(repository), "update-index", "--refresh"], check=True)
    refreshed = index.read_bytes()
    (repository / "b.txt").write_text("new")
    subprocess.run(["git", "-C", str(repository), "add", "b.txt"], check=True)

    assert refreshed != before
    assert told("index", before, refreshed) == ("git index", True, NONE)
    assert told("index", refreshed, index.read_bytes()) == ("git index", False, NONE)


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.process
def test_each_version_of_the_index_holds_what_git_lists(repository: Path, version: int) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(repository), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    for name in ("aa", "aab", "long/name/of/a/file", "long/name/of/another"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(name)
    git("add", ".")
    if version == 3:
        (repository / "later").write_text("x")
        git("add", "-N", "later")
    git("update-index", "--index-version", str(version))
    found = entries((repository / ".git" / "index").read_bytes())

    listed = [line.split() for line in git("ls-files", "-s").splitlines()]
    assert {
        (path.decode(), stage): (f"{mode:o}", name.hex())
        for (path, stage), (mode, name, _) in found.items()
    } == {(path, int(stage)): (mode, name) for mode, name, stage, path in listed}


def test_a_sqlite_file_after_vacuum_means_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); DELETE FROM t WHERE a = 1"
        )
        before = path.read_bytes()
        db.execute("VACUUM")
        after = path.read_bytes()
        db.execute("DELETE FROM t")

    assert before != after
    assert told("a.db", before, after) == ("sqlite", True, NONE)
    assert told("a.db", before, path.read_bytes()) == ("sqlite", False, LOST)


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE a [<!ENTITY b "cc">]><a>&b;</a>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'.encode(
            "utf-16"
        ),
        b"<a>" * 500 + b"</a>" * 500,
        b"<a",
    ],
)
def test_xml_with_entities_or_without_end_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="XML"):
        parse(content)


def test_a_zip_file_that_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        read_parts(zipped({"a": "\0" * 40_000_000}))


Documents: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from("abcdef"),
    st.recursive(
        st.none() | st.integers() | st.text("xy", max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
)


@given(document=Documents, indent=st.sampled_from([None, 0, 2]))
def test_json_laid_out_otherwise_always_means_the_same(
    document: dict[str, Any], indent: int | None
) -> None:
    turned = dict(reversed(document.items()))
    found = told("a.json", json.dumps(document), json.dumps(turned, indent=indent))

    assert found == ("json", True, NONE)


@given(document=Documents, more=Documents)
def test_json_that_only_grows_loses_nothing(document: dict[str, Any], more: dict[str, Any]) -> None:
    grown = {**more, **document}
    found = told("a.json", json.dumps(document), json.dumps(grown))

    assert found == ("json", grown == document, NONE)


@given(rows=st.lists(st.integers(), unique=True, min_size=1, max_size=8), data=st.data())
def test_a_line_taken_away_is_always_a_loss(rows: list[int], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(rows))
    before, after = ([{"id": n} for n in (0, *rows) if n != out] for out in (None, gone))
    found = compare_contents("a.jsonl", json_lines(before), json_lines(after))

    assert found is not None
    assert found[1].loss is LOST


def json_lines(records: list[dict[str, int]]) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in records).encode()
