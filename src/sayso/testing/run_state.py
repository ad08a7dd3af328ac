"""State of the current test run, and notes for its summary."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(slots=True)
class RunState:
    """The folder of the running test, and the notes for the summary."""

    folder: Path | None = None
    is_updating: bool = False
    notes: list[str] = field(default_factory=list[str])

    def place(self, path: str | Path) -> Path:
        """Resolve a path relative to the test's file, or to the working folder without a test."""
        return (self.folder or Path.cwd()) / path


run: Final = RunState()
"""The only run of this process."""
