"""What the pages are dressed with, and how large it is."""

import re
from pathlib import Path

import pytest
from tests.console.conftest import Bench

import avow.console

pytestmark = pytest.mark.anyio

# What is written on what, and the contrast that WCAG's level AA asks for: less for mere outlines.
CONTRASTS = [
    *[("ink", below, 4.5) for below in ("paper", "card", "sunk", "read-bg", "destructive-bg")],
    *[("soft", below, 4.5) for below in ("paper", "card", "sunk")],
    *[("accent", below, 4.5) for below in ("paper", "card", "sunk", "read-bg", "destructive-bg")],
    *[(name, below, 4.5) for name in ("read", "destructive") for below in ("paper", "card")],
    *[("on", below, 4.5) for below in ("accent", "destructive")],
    *[(name, f"{name}-bg", 4.5) for name in ("read", "write", "destructive", "odd")],
    ("card", "destructive", 4.5),
    *[("edge", below, 3) for below in ("paper", "card")],
]

FOLDER = Path(avow.console.__file__).parent


@pytest.mark.parametrize(
    ("name", "kind", "most"),
    [
        ("console.css", "text/css; charset=utf-8", 12 * 1024),
        ("console.js", "text/javascript; charset=utf-8", 4 * 1024),
        ("icon.svg", "image/svg+xml", 1024),
    ],
)
async def test_each_file_is_small_and_served_as_what_it_is(
    bench: Bench, name: str, kind: str, most: int
) -> None:
    async with bench.visitor() as browser:
        served = await browser.get(f"/console/static/{name}")

    assert served.headers["content-type"] == kind
    assert served.content == (FOLDER / "static" / name).read_bytes()
    assert len(served.content) < most


@pytest.mark.parametrize("name", ["../routes.py", "..%2Froutes.py", "routes.py", "", "console.CSS"])
async def test_nothing_else_is_served(bench: Bench, name: str) -> None:
    async with bench.visitor() as browser:
        assert (await browser.get(f"/console/static/{name}")).status_code in (401, 404)


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("above", "below", "least"), CONTRASTS)
def test_what_is_written_stands_out(scheme: int, above: str, below: str, least: float) -> None:
    style = (FOLDER / "static" / "console.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", style.split(":root")[scheme + 1]))

    dark, light = sorted(luminance(colours[name]) for name in (above, below))

    assert (light + 0.05) / (dark + 0.05) >= least


def test_no_page_has_scripts_or_styles_within_it() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (FOLDER / "templates").glob("*.html")]

    assert pages
    for page in pages:
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script>", page)
        assert "|safe" not in page.replace(" ", "")


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in [*(FOLDER / "static").iterdir(), *(FOLDER / "templates").iterdir()]:
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "//" not in re.sub(r"^\s*// .*$", "", text, flags=re.MULTILINE), path.name
        assert "@import" not in text
