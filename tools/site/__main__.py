"""Build the documentation site; warnings are errors.

Usage: `python -m tools.site [OUTPUT]`, by default `build/site`. The site of this version goes into
`OUTPUT/VERSION`; `OUTPUT/index.html` lists the versions that are there. Sphinx checks the links.
"""

import html
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from sphinx.cmd.build import build_main
from tools.site.gather import ROOT, gather

from sayso.version import __version__

_PAGE: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>sayso documentation</title>
</head>
<body>
<main>
<h1>sayso documentation</h1>
<ul>
{items}
</ul>
</main>
</body>
</html>
"""

_ACCESSIBLE: Final = {
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="On this page">',
    "<pre>": '<pre tabindex="0">',
}
"""Attributes that the theme leaves out: names of landmarks, and focus to scroll by keyboard."""


def build(output: Path) -> int:
    """Build the site of this version into `output`; return Sphinx's exit code."""
    place = output / __version__
    shutil.rmtree(place, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        gather(Path(folder, "source"))
        options = ["-q", "-W", "--keep-going", "-d", f"{folder}/doctrees", "-b", "html"]
        code = build_main([*options, f"{folder}/source", str(place)])
    for page in place.rglob("*.html"):
        text = page.read_text("utf-8")
        for tag, accessible in _ACCESSIBLE.items():
            text = text.replace(tag, accessible)
        page.write_text(text, "utf-8")
    list_versions(output)
    return code


def list_versions(output: Path) -> None:
    """Write the page that lists the versions in `output`, newest first."""
    versions = sorted(
        (path.parent.name for path in output.glob("*/index.html")), key=_numbers, reverse=True
    )
    items = "\n".join(
        f'<li><a href="{html.escape(name)}/index.html">{html.escape(name)}</a></li>'
        for name in versions
    )
    output.mkdir(parents=True, exist_ok=True)
    (output / "index.html").write_text(_PAGE.format(items=items), "utf-8")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
