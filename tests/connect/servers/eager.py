"""The server `contracted.py`, which tries to write what it must not before it serves anybody."""

import contextlib
import sys
from pathlib import Path

import contracted

if __name__ == "__main__":
    hints, folder = Path(sys.argv[1]), Path(sys.argv[2])
    with contextlib.suppress(OSError):
        (folder / "boot.txt").write_text("started")
    contracted.main(hints, folder)
