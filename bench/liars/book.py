"""A workbook (ECMA-376) as small as can be, written and added to with the standard library."""

import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

_SHEET = "xl/worksheets/sheet1.xml"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
_OPEN = "http://schemas.openxmlformats.org"
_MAIN = f"{_OPEN}/spreadsheetml/2006/main"
_PACKAGE = f"{_OPEN}/package/2006"
_OFFICE = f"{_OPEN}/officeDocument/2006/relationships"
_KIND = "application/vnd.openxmlformats"


def _part(root: str, namespace: str, *children: str, more: str = "") -> str:
    return f'{_HEAD}<{root} xmlns="{namespace}"{more}>{"".join(children)}</{root}>'


def _relation(kind: str, target: str) -> str:
    return f'<Relationship Id="rId1" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _override(name: str, kind: str) -> str:
    kind = f"{_KIND}-officedocument.spreadsheetml.{kind}+xml"
    return f'<Override PartName="/xl/{name}.xml" ContentType="{kind}"/>'


_PARTS = {
    "[Content_Types].xml": _part(
        "Types",
        f"{_PACKAGE}/content-types",
        f'<Default Extension="rels" ContentType="{_KIND}-package.relationships+xml"/>',
        '<Default Extension="xml" ContentType="application/xml"/>',
        _override("workbook", "sheet.main"),
        _override("worksheets/sheet1", "worksheet"),
    ),
    "_rels/.rels": _part(
        "Relationships",
        f"{_PACKAGE}/relationships",
        _relation("officeDocument", "xl/workbook.xml"),
    ),
    "xl/workbook.xml": _part(
        "workbook",
        _MAIN,
        '<sheets><sheet name="Sales" sheetId="1" r:id="rId1"/></sheets>',
        more=f' xmlns:r="{_OFFICE}"',
    ),
    "xl/_rels/workbook.xml.rels": _part(
        "Relationships",
        f"{_PACKAGE}/relationships",
        _relation("worksheet", "worksheets/sheet1.xml"),
    ),
}


def _row(number: int, *values: str) -> str:
    cells = "".join(
        f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        for at, value in enumerate(values)
    )
    return f'<row r="{number}">{cells}</row>'


def make_book(file: Path, *rows: tuple[str, ...]) -> None:
    """A workbook of one sheet with these rows."""
    told = "".join(_row(number, *row) for number, row in enumerate(rows, 1))
    sheet = _part("worksheet", _MAIN, f"<sheetData>{told}</sheetData>")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (*_PARTS.items(), (_SHEET, sheet)):
            archive.writestr(name, text)


def add_row(file: Path, *values: str) -> None:
    """One row more; what stands there stays, in an archive that is written anew."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    clean = [re.sub(r"[^\x20-\ud7ff]", "?", value) for value in values]
    row = _row(parts[_SHEET].count("<row ") + 1, *clean)
    parts[_SHEET] = parts[_SHEET].replace("</sheetData>", f"{row}</sheetData>")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
