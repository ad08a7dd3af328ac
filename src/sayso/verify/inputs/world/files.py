"""The plain files of the seeded world: text, data, mail, a calendar, a picture and a PDF."""

import json
import struct
import zlib
from email.message import EmailMessage
from pathlib import Path
from typing import Final

from sayso.verify.inputs.world.rows import CUSTOMERS, ORDERS

_CONFIG: Final = {"name": "demo", "debug": False, "retries": 3, "tags": ["alpha", "beta"]}
_NOTES: Final = "Buy paper\nCall Ada about the invoice\nTODO: water the plants\nalpha beta gamma\n"
_REPORT: Final = (
    "# Report\n\nSales were steady in January.\n\n## Numbers\n\n"
    "| month | total |\n| --- | --- |\n| January | 120 |\n| February | 140 |\n\n"
    "- alpha\n- beta\n\nSee [the guide](docs/guide.md).\n"
)
_GUIDE: Final = "# Guide\n\nStart with notes.txt. TODO: say more.\n"
_CODE: Final = (
    'def greet(name: str) -> str:\n    """Greet somebody."""\n    return f"Hello, {name}"\n'
)
_PAGE: Final = (
    "<!doctype html>\n<title>Demo</title>\n<h1>Demo</h1>\n"
    '<p>Hello, <a href="report.md">report</a>.</p>\n'
)
_MAILS: Final = (
    ("ada@example.com", "Invoice 7", "Please find invoice 7 attached.\n"),
    ("bob@example.com", "Lunch?", "Shall we meet at noon?\n"),
    ("eve@example.com", "Zoë’s birthday", "It is on Friday.\n"),
)
_CALENDAR: Final = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//sayso//seeded world//EN
BEGIN:VEVENT
UID:event-1@example.com
DTSTAMP:20260115T093000Z
DTSTART:20260120T100000Z
DTEND:20260120T110000Z
SUMMARY:Planning
END:VEVENT
BEGIN:VEVENT
UID:event-2@example.com
DTSTAMP:20260115T093000Z
DTSTART:20260121T140000Z
DTEND:20260121T150000Z
SUMMARY:Review
END:VEVENT
END:VCALENDAR
"""


def write_files(folder: Path) -> None:
    """Write all of them below `folder`."""
    for name, text in _texts().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    (folder / "image.png").write_bytes(_png(8, 8))
    (folder / "paper.pdf").write_bytes(_pdf("Hello from a small PDF"))
    (folder / "empty").mkdir()
    (folder / "blank.txt").touch()
    _write_mail(folder)


def _texts() -> dict[str, str]:
    lines = ["id,name,email,city"]
    lines += [",".join(str(cell) for cell in row) for row in CUSTOMERS]
    orders = (
        {"id": order[0], "customer_id": order[1], "item": order[2], "total": order[3]}
        for order in ORDERS
    )
    return {
        "notes.txt": _NOTES,
        "report.md": _REPORT,
        "data.csv": "\n".join(lines) + "\n",
        "config.json": json.dumps(_CONFIG, indent=2) + "\n",
        "events.jsonl": "".join(json.dumps(order) + "\n" for order in orders),
        "settings.toml": 'name = "demo"\nretries = 3\n',
        "settings.yaml": "name: demo\nretries: 3\n",
        "page.html": _PAGE,
        "feed.xml": '<?xml version="1.0"?>\n<items><item id="1">alpha</item></items>\n',
        "main.py": _CODE,
        "docs/guide.md": _GUIDE,
        "docs/old/draft.txt": "A first draft.\n",
        "docs/two words.txt": "A name with a space.\n",
        "docs/Grüße 漢字.txt": "Ein Name, der nicht nur aus ASCII besteht.\n",
        "calendar.ics": _CALENDAR.replace("\n", "\r\n"),
    }


def _write_mail(folder: Path) -> None:
    box: list[str] = []
    maildir = folder / "maildir"
    for name in ("new", "cur", "tmp"):
        (maildir / name).mkdir(parents=True)
    for number, (sender, subject, body) in enumerate(_MAILS, start=1):
        message = EmailMessage()
        message["From"] = sender
        message["To"] = "me@example.com"
        message["Subject"] = subject
        message["Date"] = "Thu, 15 Jan 2026 09:30:00 +0000"
        message["Message-ID"] = f"<mail-{number}@example.com>"
        message.set_content(body)
        text = message.as_string()
        box.append(f"From {sender} Thu Jan 15 09:30:00 2026\n{text}\n")
        place = "cur" if number == 1 else "new"
        flag = ":2,S" if number == 1 else ""
        (maildir / place / f"176846940{number}.mail{number}.example{flag}").write_text(
            text, encoding="utf-8"
        )
    (folder / "mail.mbox").write_text("".join(box), encoding="utf-8")


def _png(width: int, height: int) -> bytes:
    """A picture of plain colours: signature, header, one block of lines, end (PNG, 3rd edition)."""
    line = b"\0" + bytes((200, 30, 90)) * width
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(line * height, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def _pdf(text: str) -> bytes:
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
