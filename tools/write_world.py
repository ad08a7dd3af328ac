"""Makes the binary files of the verifier's sample world; the others are plain text, edited by hand.

Usage: `.venv/bin/python tools/write_world.py`. Needs git. Its own versions of SQLite, zlib and git
show in the bytes, so run it only to change what the files hold.
"""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from xml.sax.saxutils import escape

from sayso.verify.inputs.world.values import CUSTOMERS, NOTES, ORDERS
from sayso.verify.inputs.world.world import FILES, MOMENT

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEET: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_KIND: Final = "application/vnd.openxmlformats-officedocument"
_WHEN: Final = (2026, 1, 15, 9, 30, 0)

Cell = str | int | float


def write_office(folder: Path) -> None:
    """Write a workbook with two sheets and a letter as Office Open XML (ECMA-376)."""
    sheets = {
        "Customers": [("id", "name", "email", "city"), *CUSTOMERS],
        "Orders": [("id", "customer_id", "item", "total"), *ORDERS],
    }
    _write_parts(folder / "data.xlsx", _workbook(sheets))
    _write_parts(folder / "letter.docx", _document())


def _write_parts(path: Path, parts: Mapping[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            entry = zipfile.ZipInfo(name, _WHEN)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, _HEAD + text)


def _workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]]) -> dict[str, str]:
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    parts = {
        "[Content_Types].xml": _types(
            {"/xl/workbook.xml": f"{_KIND}.spreadsheetml.sheet.main+xml"}
            | {
                f"/xl/worksheets/sheet{number}.xml": f"{_KIND}.spreadsheetml.worksheet+xml"
                for number in numbers
            }
            | {"/xl/styles.xml": f"{_KIND}.spreadsheetml.styles+xml"}
        ),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}">'
        f"<sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            [("worksheet", f"worksheets/sheet{number}.xml") for number in numbers]
            + [("styles", "styles.xml")]
        ),
        "xl/styles.xml": _STYLES,
    }
    for number, rows in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = _worksheet(rows)
    return parts


_STYLES: Final = (
    f'<styleSheet xmlns="{_SHEET}"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="1"><xf xfId="0"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)


def _worksheet(rows: Sequence[Sequence[Cell]]) -> str:
    lines = (
        f'<row r="{at}">'
        + "".join(_cell(f"{chr(65 + column)}{at}", value) for column, value in enumerate(row))
        + "</row>"
        for at, row in enumerate(rows, start=1)
    )
    used = f"A1:{chr(64 + max(map(len, rows)))}{len(rows)}"
    return (
        f'<worksheet xmlns="{_SHEET}"><dimension ref="{used}"/>'
        f"<sheetData>{''.join(lines)}</sheetData></worksheet>"
    )


def _cell(place: str, value: Cell) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def _document() -> dict[str, str]:
    paragraphs = ("Dear Ada,", "thank you for your order of paper.", "Yours, Bob")
    text = "".join(
        f"<w:p><w:r><w:t>{escape(paragraph)}</w:t></w:r></w:p>" for paragraph in paragraphs
    )
    cells = "".join(
        f"<w:tc><w:tcPr/><w:p><w:r><w:t>{word}</w:t></w:r></w:p></w:tc>"
        for word in ("paper", "12.5")
    )
    grid = "<w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    table = f"<w:tbl>{grid}<w:tr>{cells}</w:tr></w:tbl>"
    return {
        "[Content_Types].xml": _types(
            {
                "/word/document.xml": f"{_KIND}.wordprocessingml.document.main+xml",
                "/word/styles.xml": f"{_KIND}.wordprocessingml.styles+xml",
            }
        ),
        "_rels/.rels": _relations([("officeDocument", "word/document.xml")]),
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{text}{table}'
        "<w:sectPr/></w:body></w:document>",
        "word/_rels/document.xml.rels": _relations([("styles", "styles.xml")]),
        "word/styles.xml": f'<w:styles xmlns:w="{_WORD}"><w:style w:type="paragraph" w:default="1" '
        'w:styleId="Normal"><w:name w:val="Normal"/></w:style><w:style w:type="paragraph" '
        'w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>',
    }


def _types(parts: Mapping[str, str]) -> str:
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    named = "".join(
        f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in parts.items()
    )
    return (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        f'ContentType="{relations}"/><Default Extension="xml" ContentType="application/xml"/>'
        f"{named}</Types>"
    )


def _relations(targets: Sequence[tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{listed}</Relationships>'


def png(width: int, height: int) -> bytes:
    """Return a PNG of plain colours: signature, header, one block of lines, end (3rd edition)."""
    line = b"\0" + bytes((200, 30, 90)) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(line * height, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def pdf(text: str) -> bytes:
    """One page with one line of text, with a table of where each object begins."""
    drawn = f"BT /F1 18 Tf 40 140 Td ({text}) Tj ET".encode("ascii")
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    found = b"%PDF-1.4\n"
    places: list[int] = []
    for number, part in enumerate(objects, start=1):
        places.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return found + table + end % (len(objects) + 1, len(found))


_TABLES: Final = (
    "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, city TEXT)",
    """CREATE TABLE orders (
        id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers (id),
        item TEXT NOT NULL, total REAL NOT NULL
    )""",
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL DEFAULT ''
    )""",
    "CREATE INDEX orders_of ON orders (customer_id)",
)


def write_databases(folder: Path) -> None:
    """Write `data.db`, with a journal that rolls back, and `wal.db`, in WAL mode."""
    for name, mode in (("data.db", "DELETE"), ("wal.db", "WAL")):
        (folder / name).unlink(missing_ok=True)
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            for statement in _TABLES:
                connection.execute(statement)
            connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", CUSTOMERS)
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ORDERS)
            connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", NOTES)
            connection.commit()


def write_repository(target: Path) -> None:
    """Write a `.git` folder as `target`: commits, branches, a tag, a stale index.

    No configuration of this machine is read, and all times are told, so the commits are the same
    everywhere. The index lacks the times and sizes of files, so `git status` wants to refresh it.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        _git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
        _git(folder, "config", "user.name", "Ada")
        _git(folder, "config", "user.email", "ada@example.com")
        _commit(folder, "Begin", 0, {"README.md": "# Demo\n", "src/app.py": "print('one')\n"})
        _git(folder, "tag", "v1.0")
        _git(folder, "checkout", "--quiet", "-b", "feature")
        _commit(folder, "Add something", 1, {"src/extra.py": "EXTRA = True\n"})
        _git(folder, "checkout", "--quiet", "main")
        _commit(folder, "Say two", 2, {"src/app.py": "print('two')\n"})
        _git(folder, "branch", "old", "v1.0")
        (folder / ".git" / "index").unlink()
        _git(folder, "read-tree", "HEAD")
        shutil.copy(target.parent / "staged.txt", folder)
        staged = _git(folder, "hash-object", "-w", "staged.txt")
        _git(folder, "update-index", "--add", "--cacheinfo", f"100644,{staged},staged.txt")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder / ".git", target)


def _commit(folder: Path, message: str, number: int, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", message, hours=number)


def _git(folder: Path, *words: str, hours: int = 0) -> str:
    when = f"{MOMENT - 86_400 + hours * 3600} +0000"
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *words],  # noqa: S607 - the machine's own
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


def main(folder: Path) -> None:
    """Write all of them into `folder`, over what is there."""
    write_databases(folder)
    write_office(folder)
    (folder / "image.png").write_bytes(png(8, 8))
    (folder / "paper.pdf").write_bytes(pdf("Hello from a small PDF"))
    write_repository(folder / "repo" / "git")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILES)
