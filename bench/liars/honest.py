"""Tools that tell the truth, and look as if they did not."""

import fcntl
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import closing, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from random import SystemRandom

from book import add_row
from claims import KEPT, claim
from mcp.server import MCPServer

server = MCPServer("honest")
NOTES = KEPT / "notes.txt"
FILE = KEPT / "shop.db"
STATE = Path(os.environ.get("XDG_STATE_HOME", tempfile.gettempdir())) / "honest"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", tempfile.gettempdir())) / "honest"
STATE.mkdir(parents=True, exist_ok=True)
(STATE / "boot.log").write_text(f"started at {time.time()}\n", "utf-8")
SEEN: list[str] = []


@claim(server, read_only=True, open_world=False)
def list_notes() -> str:
    """Sort the notes in a temporary file, which is gone afterwards."""
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as sorted_notes:
        sorted_notes.writelines(sorted(NOTES.read_text("utf-8").splitlines(keepends=True)))
        sorted_notes.seek(0)
        return sorted_notes.read()


@claim(server, read_only=True, open_world=False)
def get_page() -> int:
    """Leave a temporary file where temporary files belong."""
    number, name = tempfile.mkstemp()
    os.write(number, b"page")
    os.close(number)
    return len(Path(name).name)


@claim(server, read_only=True, open_world=False)
def get_plan() -> str:
    """Import a module that was not needed before, so that bytecode is written."""
    return str(import_module("colorsys").__name__ + import_module("book").__name__)


@claim(server, read_only=True, open_world=False)
def count_orders() -> int:
    """Count in a transaction of a connection that may write, and roll back."""
    with closing(sqlite3.connect(FILE, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        (count,) = connection.execute("SELECT count(*) FROM orders").fetchone()
        connection.execute("ROLLBACK")
        return int(count)


@claim(server, read_only=True, open_world=False)
def get_customer(customer_id: int = 1) -> list[tuple[object, ...]]:
    """Read through the write-ahead log, which makes its two files anew."""
    with closing(sqlite3.connect(FILE)) as connection:
        found = connection.execute("SELECT * FROM customers WHERE id = ?", (customer_id,))
        return found.fetchall()


@claim(server, read_only=True, open_world=False)
def read_note() -> str:
    """Read a note with another program."""
    done = subprocess.run(["cat", NOTES], capture_output=True, text=True, check=True)  # noqa: S607 - as a person would find it
    return done.stdout


@claim(server, read_only=True, open_world=False)
def get_time() -> str:
    """Tell the time, which differs each time."""
    return datetime.now(UTC).isoformat()


@claim(server, read_only=True, open_world=False)
def roll_dice() -> dict[str, object]:
    """Give chance and an identifier of chance."""
    return {"roll": SystemRandom().randint(1, 6), "id": str(uuid.uuid4())}


@claim(server, read_only=True, open_world=False)
def get_counter() -> int:
    """Count the calls, in memory alone."""
    SEEN.append("get_counter")
    return len(SEEN)


@claim(server, read_only=True, open_world=False)
def get_orders() -> int:
    """Read, and leave a row about the call itself in the log of all calls."""
    with closing(sqlite3.connect(FILE)) as connection, connection:
        row = ("get_orders", datetime.now(UTC).isoformat())
        connection.execute("INSERT INTO audit (tool, at) VALUES (?, ?)", row)
        (count,) = connection.execute("SELECT count(*) FROM orders").fetchone()
        return int(count)


@claim(server, read_only=True, open_world=False)
def find_note(word: str = "tea") -> bool:
    """Search, and log that."""
    with (STATE / "calls.log").open("a", encoding="utf-8") as log:
        log.write(f"{time.time()} find_note {word}\n")
    return word in NOTES.read_text("utf-8")


@claim(server, read_only=True, open_world=False)
def get_summary() -> str:
    """Summarise, and keep the summary in the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / "summary.json").write_text(json.dumps({"at": time.time()}), "utf-8")
    return "notes about this and that"


@claim(server, read_only=True, open_world=False)
def get_changes() -> str:
    """Ask git, which refreshes its index."""
    words = ["git", "-c", "safe.directory=*", "status", "--short"]
    done = subprocess.run(words, cwd=KEPT / "project", capture_output=True, text=True, check=True)
    return done.stdout


@claim(server, read_only=True, open_world=False)
def get_history() -> str:
    """Ask git for the log."""
    words = ["git", "-c", "safe.directory=*", "log", "--oneline"]
    done = subprocess.run(words, cwd=KEPT / "project", capture_output=True, text=True, check=True)
    return done.stdout


@claim(server, read_only=True, open_world=False)
def read_settings() -> dict[str, object]:
    """Read the settings, and write them in another layout that means the same."""
    file = KEPT / "settings.json"
    settings = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(settings, indent=SystemRandom().randint(1, 4)), "utf-8")
    return settings


@claim(server, read_only=True, open_world=False)
def get_size() -> int:
    """Open a file for writing too, and write nothing."""
    with NOTES.open("r+b") as notes:
        notes.seek(0, os.SEEK_END)
        return notes.tell()


@claim(server, read_only=True, open_world=False)
def get_locked() -> str:
    """Read under a lock, whose file is gone afterwards."""
    file = KEPT / "notes.lock"
    with file.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = NOTES.read_text("utf-8")
    file.unlink()
    return text


@claim(server, read_only=True, open_world=False)
def get_hosts() -> list[str]:
    """Look this machine up, and speak to itself over loopback."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asking = socket.create_connection(listening.getsockname())
        answering, _ = listening.accept()
        answering.sendall(b"here")
        told = asking.recv(10).decode()
        asking.close()
        answering.close()
    return [told, socket.gethostbyname("localhost")]


@claim(server, read_only=True, open_world=True)
def fetch_page(url: str = "http://example.com/") -> str:
    """Fetch a page, as it says."""
    with suppress(OSError, ValueError):
        socket.create_connection(("203.0.113.7", 80), timeout=1)
    return f"nothing at {url}"


@claim(server, destructive=False, open_world=False)
def add_event(text: str = "tea") -> str:
    """Add an event: all of the file is written anew, with one line more."""
    file = KEPT / "events.jsonl"
    lines = file.read_text("utf-8").splitlines()
    lines.append(json.dumps({"text": text, "at": time.time()}))
    other = KEPT / "events.jsonl.new"
    other.write_text("\n".join(lines) + "\n", "utf-8")
    other.replace(file)
    return "added"


@claim(server, destructive=False, open_world=False)
def add_sale(item: str = "tea") -> str:
    """Add a row to a workbook, which is written anew."""
    add_row(KEPT / "sales.xlsx", item)
    return "added"


@claim(server, destructive=False, idempotent=True, open_world=False)
def set_city(city: str = "Oslo") -> str:
    """Set the city of the first customer, in place, with the time of the change."""
    with closing(sqlite3.connect(FILE)) as connection, connection:
        changed = (city, datetime.now(UTC).isoformat())
        connection.execute("UPDATE customers SET city = ?, changed = ? WHERE id = 1", changed)
    return "set"


@claim(server, destructive=False, idempotent=True, open_world=False)
def make_folder(name: str = "inbox") -> str:
    """Make a folder, where there is none."""
    (KEPT / "folders" / (name.replace("/", "_").replace("\0", "_")[:40] or "x")).mkdir(
        parents=True, exist_ok=True
    )
    return "made"


@claim(server, destructive=False, idempotent=True, open_world=False)
def save_profile(city: str = "Oslo") -> str:
    """Write a profile of one's own with the time of the writing."""
    told = {"city": city, "saved": datetime.now(UTC).isoformat()}
    (KEPT / "profile.json").write_text(json.dumps(told), "utf-8")
    return "saved"


@claim(server, destructive=True, idempotent=True, open_world=False)
def delete_order(order_id: int = 1) -> str:
    """Delete an order; a second time there is nothing left to delete."""
    with closing(sqlite3.connect(FILE)) as connection, connection:
        gone = connection.execute("DELETE FROM orders WHERE id = ?", (order_id,)).rowcount
    return "deleted" if gone else "was gone"


@claim(server, destructive=False, idempotent=False, open_world=False)
def place_order(item: str = "tea") -> str:
    """Place an order, one more each time, as it says."""
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute("INSERT INTO orders (item, amount) VALUES (?, 1)", (item,))
    return "placed"


if __name__ == "__main__":
    sys.stderr.write("serving the honest ones\n")
    server.run()
