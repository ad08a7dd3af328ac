"""A workbook and a text document as Office Open XML, with the standard library only (ECMA-376)."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from sayso.verify.inputs.world.rows import CUSTOMERS, ORDERS

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SHEET: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_WORD: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_KIND: Final = "application/vnd.openxmlformats-officedocument"
_WHEN: Final = (2026, 1, 15, 9, 30, 0)

Cell = str | int | float


def write_office(folder: Path) -> None:
    """Write `data.xlsx` with the sheets `Customers` and `Orders`, and `letter.docx`."""
    sheets = {
        "Customers": [("id", "name", "email", "city"), *CUSTOMERS],
        "Orders": [("id", "customer_id", "item", "total"), *ORDERS],
    }
    _write(folder / "data.xlsx", _workbook(sheets))
    _write(folder / "letter.docx", _document())


def _write(path: Path, parts: Mapping[str, str]) -> None:
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
