"""The option and the signals of a demo server that runs as a process of its own."""

import argparse
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Final

DATA_VARIABLE: Final = "SAYSO_DEMO_DATA"


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Add `--data FILE`, with its default from the environment."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        default=os.environ.get(DATA_VARIABLE) or None,
        help=f"the SQLite file, created if missing (default: {DATA_VARIABLE}, or a temporary file)",
    )


def leave_on_signals(stack: ExitStack) -> None:
    """Close `stack` and exit immediately on SIGINT and SIGTERM.

    What reads stdin cannot be interrupted, so a normal exit would wait for the
    next line. SQLite rolls an open transaction back when the file is next opened.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        stack.close()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)
