"""A page of the documents as a reader uses it: save its files, then run its commands in order."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.terminals import run_on_terminal

ROOT: Final = Path(__file__).parents[2]
_BLOCK: Final = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>(?P<language>\w*)[^\n]*)\n(?P<text>.*?)```",
    re.DOTALL,
)
_BIN: Final = Path(sys.executable).parent
_HIDDEN: Final = "…"
_SECONDS: Final = 120


@dataclass
class Reader:
    """Somebody in an empty folder with one page; nothing is run that the page does not say."""

    page: str
    folder: Path
    port: int = 8321
    """The port that is used in place of the page's 8321, which may be taken."""
    programs: Path = _BIN
    """The folder of `python` and `sayso`."""
    home: Path | None = None
    """The home folder; by default that of whoever runs the tests."""
    _read: int = field(default=0, init=False)

    def save(self, name: str) -> None:
        """Save the next file of this name, and go on below it."""
        for block in self._rest():
            if block["file"] == name:
                (self.folder / name).write_text(block["text"], "utf-8")
                return
        raise AssertionError(f"{self.page} has no file {name} from here on")

    def text(self, kind: str) -> str:
        """Return the next code block of this kind, such as `python`, and go on below it."""
        for block in self._rest():
            if block["kind"] == kind:
                return block["text"]
        raise AssertionError(f"{self.page} has no block of {kind} from here on")

    def run(
        self,
        command: str,
        code: int = 0,
        answers: Mapping[str, str] | None = None,
        **replaced: str,
    ) -> str:
        """Run the page's next such command; its output must hold the lines that the page shows.

        `answers` has what is typed at each question that the terminal shows. `replaced` gives
        values for words of the page in capitals, such as an ID.
        """
        shown = self._find(command)
        ended, printed = run_on_terminal(
            self._words(command, replaced),
            answers or {},
            cwd=self.folder,
            environment=self._environment(),
            seconds=_SECONDS,
        )
        assert ended == code, f"{ended}: {printed}"
        output = " ".join(printed.split())
        for line in shown:
            assert _fits(line, output), (line, output)
        return printed

    @contextmanager
    def start(self, command: str) -> Generator[subprocess.Popen[str]]:
        """Run the page's next such command beside the test, and end it at the end."""
        self._find(command)
        process = subprocess.Popen(
            self._words(command, {}),
            cwd=self.folder,
            env=self._environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=_SECONDS)

    def _find(self, command: str) -> list[str]:
        """Return the output that the page shows below its next command of these words."""
        for block in self._rest():
            lines = block["text"].splitlines()
            plain = [line.removeprefix("$ ").partition("  #")[0].rstrip() for line in lines]
            if block["language"] not in {"console", ""} or command not in plain:
                continue
            shown: list[str] = []
            for line in lines[plain.index(command) + 1 :]:
                if block["language"] == "" or line.startswith("$ "):
                    break
                shown.append(line.rstrip())
            # The block may have more commands.
            self._read = block.start()
            return [line for line in shown if line.strip(_HIDDEN)]
        raise AssertionError(f"{self.page} does not say {command!r} from here on")

    def _rest(self) -> Generator[re.Match[str]]:
        text = (ROOT / "docs" / self.page).read_text("utf-8")
        for block in _BLOCK.finditer(text, self._read):
            self._read = block.end()
            yield block

    def _words(self, command: str, replaced: dict[str, str]) -> list[str]:
        words = command.replace("127.0.0.1:8321", f"127.0.0.1:{self.port}")
        for word, value in replaced.items():
            words = words.replace(word, value)
        if words.startswith("sayso gateway"):
            words += f" --port {self.port}"
        program, *rest = shlex.split(words)
        return [str(self.programs / program), *rest]

    def _environment(self) -> dict[str, str]:
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        if self.home is not None:
            kept["HOME"] = str(self.home)
        own = {
            "PATH": path,
            "NO_COLOR": "1",
            "TERM": "dumb",
            "SAYSO_STORE": f"sqlite:{self.folder / 'sayso.db'}",
            "SAYSO_RUNTIME_DIR": str(self.folder),
        }
        return {**kept, **own}


def _fits(line: str, output: str) -> bool:
    """Return whether the output holds a line that the page shows; `…` stands for anything."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in line.split(_HIDDEN)]
    return re.search(".*".join(parts), output) is not None
