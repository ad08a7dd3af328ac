"""Writes the names and looks of secrets into avow-confirm.js, from those that Python masks.

Usage: `.venv/bin/python tools/write_secrets.py`.
"""

from pathlib import Path

from avow.console.masking import with_secrets

SCRIPT = Path(__file__).resolve().parents[1] / "src/avow/console/static/avow-confirm.js"

if __name__ == "__main__":
    SCRIPT.write_text(with_secrets(SCRIPT.read_text("utf-8")), "utf-8")
