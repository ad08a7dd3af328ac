"""The folder that the tools of this folder work on: what a person keeps."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from book import make_book

_FILES = {
    "notes.txt": "tea at four\nbuy milk\ncall Ann\n",
    "visits.log": "",
    "draft.md": "# A draft\n\nOf something that took a while.\n",
    "entries.txt": "coffee\n",
    "items.txt": "cup\n",
    "events.jsonl": '{"text": "opened", "at": 1}\n{"text": "closed", "at": 2}\n',
    "settings.json": '{"theme": "dark", "counter": 1, "reads": 0}',
    "counter.bin": "\0" * 64,
    "trash/one.txt": "one\n",
    "trash/two.txt": "two\n",
    "trash/three.txt": "three\n",
}
_ROWS = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name, city, searches DEFAULT 0, changed);
CREATE TABLE orders (id INTEGER PRIMARY KEY, item, amount);
CREATE TABLE names (name PRIMARY KEY, customer_id);
CREATE TABLE audit (id INTEGER PRIMARY KEY, tool, at);
INSERT INTO customers (name, city) VALUES ('Ann', 'Oslo'), ('Ben', 'Bonn'), ('Cy', 'Oslo');
INSERT INTO orders (item, amount) VALUES ('tea', 3), ('cup', 1), ('pot', 2), ('tray', 1);
INSERT INTO names VALUES ('Ben', 2), ('Ann', 3);
"""


def make_kept(folder: Path) -> None:
    """Fill an empty folder."""
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        connection.executescript(_ROWS)
        connection.execute("PRAGMA journal_mode = WAL")
    make_book(folder / "sales.xlsx", ("item", "amount"), ("tea", "3"))
    project = folder / "project"
    project.mkdir()
    (project / "read.me").write_text("a project\n", "utf-8")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Begin")):
        subprocess.run(["git", *words], cwd=project, check=True, capture_output=True)  # noqa: S607 - as a person would find it
    # The index is stale: what it knows of the file's times is not true any more.
    (project / "read.me").touch()
