"""Writes docs/rules.md from the rules themselves.

Usage: `.venv/bin/python tools/write_rules.py`.
"""

from pathlib import Path

from sayso.lint.handbook import handbook

PAGE = Path(__file__).resolve().parents[1] / "docs" / "rules.md"

if __name__ == "__main__":
    PAGE.write_text(handbook(), "utf-8")
