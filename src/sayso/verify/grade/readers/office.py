"""Readers of workbooks and documents, which compare cells and paragraphs, not the zip files."""

import hashlib
from collections.abc import Mapping
from posixpath import basename
from typing import Final, NamedTuple

from sayso.trace import Loss
from sayso.verify.grade.readers.content import Outcome, compare_rows
from sayso.verify.grade.readers.parts import Node, parse, read_parts
from sayso.verify.grade.readers.text import is_alike

Sheet = dict[int, tuple[str, ...]]
"""The rows of a sheet by number, each with its cells as `A=value`."""
TEXTS: Final = ("document", "footnotes", "endnotes", "comments", "header", "footer")


class Paragraph(NamedTuple):
    """A paragraph's text. `is_cell`: it is in a table."""

    text: str
    is_cell: bool

    def __str__(self) -> str:
        return self.text


class XlsxReader:
    """Compares cells by sheet and position, with formulas, merged cells and pictures."""

    name = "xlsx"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        first = read_parts(before)
        second = read_parts(after)
        old = _sheets(first)
        new = _sheets(second)
        if (old, _media(first)) == (new, _media(second)):
            return Outcome(is_same=True)
        gone = [name for name in old if name not in new and old[name]]
        added = [sheet for name, sheet in new.items() if name not in old]
        lost = [name for name in gone if old[name] not in added]
        if lost:
            return Outcome(Loss.LOST, f"sheet {lost[0]} lost")
        if gone:
            return Outcome(Loss.OVERWROTE, f"sheet {gone[0]} renamed")
        found = [_compare_sheet(name, old[name], new[name]) for name in old if name in new]
        return max(found, key=lambda outcome: _WORST.index(outcome.loss), default=Outcome())


class DocxReader:
    """Compares paragraphs in order, and pictures by their bytes."""

    name = "docx"

    def compare(self, before: bytes, after: bytes) -> Outcome:
        first = read_parts(before)
        second = read_parts(after)
        old = _paragraphs(first)
        new = _paragraphs(second)
        if (old, _media(first)) == (new, _media(second)):
            return Outcome(is_same=True)
        return compare_rows(old, new, is_alike=_goes_on, word="paragraphs")


_WORST: Final = (Loss.NONE, Loss.OVERWROTE, Loss.UNKNOWN, Loss.LOST)


def _media(parts: Mapping[str, bytes]) -> list[str]:
    return sorted(
        hashlib.sha256(content).hexdigest()
        for name, content in parts.items()
        if "/media/" in name or "/charts/chart" in name
    )


def _compare_sheet(name: str, old: Sheet, new: Sheet) -> Outcome:
    """Compare two versions of a sheet. A missing row is changed if a new row has its number."""
    known = set(old.values())
    now = set(new.values())
    lost = changed = 0
    for number, row in old.items():
        if row in now:
            continue
        replacement = new.get(number)
        if replacement is None or replacement in known:
            lost += 1
        else:
            changed += 1
    if lost:
        return Outcome(Loss.LOST, f"{lost} rows of {name} lost")
    if changed:
        return Outcome(Loss.OVERWROTE, f"{changed} rows of {name} changed")
    return Outcome()


def _sheets(parts: Mapping[str, bytes]) -> dict[str, Sheet]:
    if "xl/workbook.xml" not in parts:
        raise ValueError("not a workbook")
    shared = [
        string.words("t")
        for string in parse(parts.get("xl/sharedStrings.xml", b"<sst/>")).all("si")
    ]
    links = parse(parts.get("xl/_rels/workbook.xml.rels", b"<Relationships/>"))
    targets = {
        link.attributes.get("Id", ""): basename(link.attributes.get("Target", ""))
        for link in links.all("Relationship")
    }
    found: dict[str, Sheet] = {}
    for sheet in parse(parts["xl/workbook.xml"]).all("sheet"):
        file = f"xl/worksheets/{targets.get(sheet.attributes.get('id', ''), '')}"
        if file in parts:
            found[sheet.attributes.get("name", file)] = _rows(parse(parts[file]), shared)
    return found


def _rows(sheet: Node, shared: list[str]) -> Sheet:
    found: Sheet = {}
    for index, row in enumerate(sheet.all("row"), start=1):
        row_number = index
        cells = tuple(
            f"{cell.attributes.get('r', '').rstrip('0123456789')}={value}"
            for cell in row.all("c")
            if (value := _value(cell, shared))
        )
        if cells:
            number = row.attributes.get("r", "")
            if number.isdecimal():
                row_number = int(number)
            found[row_number] = cells
    if merged := sorted(merge.attributes.get("ref", "") for merge in sheet.all("mergeCell")):
        found[0] = tuple(merged)
    return found


def _value(cell: Node, shared: list[str]) -> str:
    formula = cell.words("f")
    if formula:
        # Ignore the stored result: programs compute it again when they open the file.
        return f"={formula}"
    text = cell.words("v")
    sort = cell.attributes.get("t", "n")
    if sort == "s":
        return shared[int(text)] if text.isdecimal() and int(text) < len(shared) else ""
    if sort == "inlineStr":
        return cell.words("t")
    if sort == "n":
        return _number(text)
    return text


def _number(text: str) -> str:
    """Normalise a number, since some programs write 1 and others 1.0."""
    try:
        return repr(float(text))
    except ValueError:
        return text


def _goes_on(old: Paragraph, new: Paragraph) -> bool:
    return (old.is_cell and new.is_cell) or is_alike(old.text, new.text)


def _paragraphs(parts: Mapping[str, bytes]) -> list[Paragraph]:
    if "word/document.xml" not in parts:
        raise ValueError("not a document")
    names = sorted(
        name
        for name in parts
        if name.startswith("word/")
        and basename(name).removesuffix(".xml").rstrip("0123456789") in TEXTS
    )
    found: list[Paragraph] = []
    for name in names:
        root = parse(parts[name])
        cells = {id(paragraph) for cell in root.all("tc") for paragraph in cell.all("p")}
        found += [
            Paragraph(words, id(paragraph) in cells)
            for paragraph in root.all("p")
            if (words := paragraph.words("t"))
        ]
    return found
