"""Says what stands in the way of a release, so that nothing untrue is published.

Usage: `.venv/bin/python tools/release_check.py v0.1.0`, as the release workflow runs it.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tools.write_metadata import written

from sayso.install_source import IS_PUBLISHED
from sayso.version import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
PLACEHOLDER: Final = re.compile(r"\bOWNER/sayso\b")


def problems(
    tag: str,
    files: Mapping[str, str],
    *,
    stale: Iterable[str] = (),
    version: str = __version__,
    is_published: bool = IS_PUBLISHED,
) -> list[str]:
    """Return what must change before `tag` can be released, as sentences.

    `files` are the texts of the repository by name, and `stale` the names of generated files that
    are out of date.
    """
    found: list[str] = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, but src/sayso/version.py says {version}")
    if not is_published:
        found.append("src/sayso/install_source.py: set IS_PUBLISHED to True")
    heading = rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$"
    if re.search(heading, files.get("CHANGELOG.md", ""), re.MULTILINE) is None:
        found.append(f"CHANGELOG.md has no heading “## {version} (YYYY-MM-DD)”")
    found += [f"{name} is out of date: run make metadata" for name in stale]
    found += [
        f"{name} still names OWNER: replace it with the account that publishes"
        for name, text in files.items()
        if not name.startswith(("tests/", "tools/")) and PLACEHOLDER.search(text)
    ]
    return found


def tracked_texts() -> dict[str, str]:
    """Return the tracked text files by name."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    done = subprocess.run(command, capture_output=True, check=True)
    names = done.stdout.decode().split("\0")
    texts: dict[str, str] = {}
    for name in filter(None, names):
        content = (ROOT / name).read_bytes()
        if b"\0" not in content:
            texts[name] = content.decode("utf-8", errors="replace")
    return texts


def main(tag: str) -> int:
    """Print the problems of a release and return 1 if there are any."""
    files = tracked_texts()
    contents = {path.relative_to(ROOT).as_posix(): text for path, text in written().items()}
    stale = [name for name, text in contents.items() if files.get(name) != text]
    found = problems(tag, files, stale=stale)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if sys.argv[1:] else "(none)"))
