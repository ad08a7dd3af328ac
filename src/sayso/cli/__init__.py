"""The command line: one command per file, imported when it runs."""

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sayso` with these words and return the exit code.

    Codes: 0 clean, 1 findings, 2 usage, 3 authentication, 4 unreachable, 5 denied, 130 interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words == ["--version"]:
        # Scripts run this often, so nothing heavy is imported.
        from sayso.version import __version__

        print(f"sayso {__version__}")  # noqa: T201 - the result of the command
        return 0
    from sayso.cli.app import run

    return run(words)
