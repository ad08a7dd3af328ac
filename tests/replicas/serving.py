"""The server that keeps a journal, as a gateway is given it."""

import sys
from pathlib import Path

from tests.connect.serving import ENVIRONMENT

from sayso.connect import CommandTarget

JOURNAL = str(Path(__file__).with_name("journal.py"))


def journal_target(journal: Path) -> CommandTarget:
    """A process of its own, for whoever is given this, that writes to `journal`."""
    return CommandTarget("journal", sys.executable, (JOURNAL, str(journal)), ENVIRONMENT)
