"""Writes the names and looks of secrets into sayso-confirm.js, from those that Python masks.

Usage: `.venv/bin/python tools/write_secrets.py`.
"""

from pathlib import Path

from sayso.console.masking import with_secrets

SCRIPT = Path(__file__).resolve().parents[1] / "src/sayso/console/static/sayso-confirm.js"

if __name__ == "__main__":
    SCRIPT.write_text(with_secrets(SCRIPT.read_text("utf-8")), "utf-8")
