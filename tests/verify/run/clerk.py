"""A server whose tools need what only the terms of a run can tell."""

import os
from pathlib import Path

import speaker

READS = {"readOnlyHint": True, "openWorldHint": False}


def where() -> str:
    """Say where it runs, and with which token."""
    return f"{Path.cwd()} {Path('inside.txt').read_text()} {os.environ['CLERK_TOKEN']}"


def read_ledger() -> str:
    """Read the ledger, and count the readings beside it."""
    counter = Path.home() / "clerk" / "readings"
    counter.parent.mkdir(exist_ok=True)
    with counter.open("a") as file:
        file.write("read\n")
    return "ledger"


def count_readings() -> str:
    """Say how often the ledger was read."""
    counter = Path.home() / "clerk" / "readings"
    return counter.read_text() if counter.exists() else "never"


def unlock(phrase: str) -> str:
    """Open the box, for who knows the words."""
    if phrase != "xyzzy":
        raise PermissionError(phrase)
    Path("/world/opened").write_text(phrase)
    return "open"


speaker.serve(
    {
        "where": (where, READS),
        "read_ledger": (read_ledger, READS),
        "count_readings": (count_readings, READS),
        "unlock": (unlock, READS),
    }
)
