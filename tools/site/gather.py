"""Collect the pages of the site: the documents, some pages from elsewhere, the reference."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tools.site.reference import PAGES

ROOT: Final = Path(__file__).resolve().parents[2]
DOCS: Final = ROOT / "docs"

FROM_ELSEWHERE: Final[Mapping[str, str]] = {
    "README.md": "project/readme.md",
    "SECURITY.md": "project/security.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "eval/RESULTS.md": "project/evaluation.md",
    "training/JUDGING.md": "project/judging.md",
}
"""Pages of the repository outside `docs/`, and their places in the site."""

PARTS: Final[Mapping[str, Sequence[str]]] = {
    "Start": ("start/gateway", "start/server", "start/agent"),
    "Guides": (
        "guides/install",
        "guides/gateway",
        "guides/policy",
        "guides/approvals",
        "guides/console",
        "guides/tools",
        "guides/access",
        "guides/audit",
        "guides/many-tools",
        "guides/monitoring",
        "guides/operating",
        "guides/replicas",
        "guides/contract",
        "guides/receipts",
        "guides/adopt",
        "guides/servers",
        "guides/results-and-plans",
        "guides/testing",
        "guides/lint",
        "guides/ci",
        "guides/infer",
        "guides/verify",
        "guides/verify-report",
        "guides/stores",
        "guides/agents",
        "guides/frameworks",
        "guides/prompt",
        "guides/select",
        "guides/screens",
        "guides/troubleshooting",
    ),
    "Reference": tuple(f"reference/{name}" for name in PAGES),
    "Explanation": (
        "explanation/hints",
        "explanation/approvals",
        "explanation/audit",
        "explanation/verification",
        "explanation/threat-model",
        "explanation/findings",
        "explanation/gateway-protocol",
        "project/security",
        "project/evaluation",
        "project/judging",
    ),
    "Project": (
        "project/readme",
        "project/architecture",
        "project/contributing",
        "project/changelog",
    ),
}
"""The order of the pages. Sphinx reports a page that is missing here or in the folder."""

_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_MARKER: Final = re.compile(r"^```(\w+) [^\n]*$", re.MULTILINE)


def gather(place: Path) -> None:
    """Write all sources of the site into the folder `place`, which is emptied first."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(DOCS, place, ignore=shutil.ignore_patterns("*.md"))
    sources = {path: path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    sources |= {ROOT / path: target for path, target in FROM_ELSEWHERE.items()}
    for source, target in sources.items():
        text = source.read_text("utf-8")
        _write(place / target, _for_the_site(text, source, target, sources, place))
    for name, write in PAGES.items():
        _write(place / "reference" / f"{name}.md", write())
    with (place / "index.md").open("a", encoding="utf-8") as index:
        index.write(_contents())


def _for_the_site(
    text: str, source: Path, target: str, sources: Mapping[Path, str], place: Path
) -> str:
    """Return a page with its links adapted and without the marks that only tests read."""
    pieces = _FENCE.split(text)
    # Every second piece is code.
    for number in range(0, len(pieces), 2):
        pieces[number] = _LINK.sub(
            lambda match: _moved(match[1], match[2], source, target, sources, place),
            pieces[number],
        )
    for number in range(1, len(pieces), 2):
        pieces[number] = _MARKER.sub(r"```\1", pieces[number])
    return "".join(pieces)


def _moved(
    text: str, link: str, source: Path, target: str, sources: Mapping[Path, str], place: Path
) -> str:
    """Return a link as it stands in the site.

    A file that is no page is copied, to be downloaded; of a link to a folder or to a
    page that the site does not have, only the text is left.
    """
    name, hash_sign, anchor = link.partition("#")
    named = Path(os.path.normpath(source.parent / name))
    if not name or ":" in name or not named.is_relative_to(ROOT):
        return f"[{text}]({link})"
    if named in sources:
        there = sources[named]
    elif named.is_dir() or (named.suffix == ".md" and not named.is_relative_to(DOCS)):
        return text
    elif named.is_relative_to(DOCS):
        there = named.relative_to(DOCS).as_posix()
    else:
        there = f"files/{named.relative_to(ROOT).as_posix()}"
        copy = place / there
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(named, copy)
    return f"[{text}]({os.path.relpath(there, Path(target).parent)}{hash_sign}{anchor})"


def _contents() -> str:
    parts = [
        "\n```{toctree}\n:hidden:\n:caption: " + part + "\n\n" + "\n".join(pages) + "\n```\n"
        for part, pages in PARTS.items()
    ]
    return "".join(parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
