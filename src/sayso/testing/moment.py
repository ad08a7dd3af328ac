"""What the plugin knows of the run that is going on, and what is to be said at its end."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final


@dataclass(slots=True)
class Moment:
    """`folder` is that of the test that runs, if one does; `notes` stand in the summary."""

    folder: Path | None = None
    is_updating: bool = False
    notes: list[str] = field(default_factory=list[str])

    def place(self, path: str | Path) -> Path:
        """A path as a test gives it: relative to its own file, else to the working folder."""
        return (self.folder or Path.cwd()) / path


moment: Final = Moment()
"""There is one run in a process."""
