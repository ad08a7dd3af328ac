"""What the pages are dressed with, and how large it is."""

import re
from hashlib import sha256
from pathlib import Path

import pytest
from tests.console.conftest import Bench

import sayso.console

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

FOLDER = Path(sayso.console.__file__).parent


@pytest.mark.parametrize(
    ("name", "kind", "most"),
    [
        ("console.css", "text/css; charset=utf-8", 14 * 1024),
        ("console.js", "text/javascript; charset=utf-8", 10 * 1024),
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


async def test_a_file_may_be_kept_for_as_long_as_it_is_the_same(bench: Bench) -> None:
    async with bench.browser() as browser:
        page = (await browser.get("/console/")).text
        (named,) = re.findall(r'href="(/console/static/console.css[^"]+)"', page)
        kept = await browser.get(named)
        other = await browser.get(f"{named}0")

    assert "immutable" in kept.headers["cache-control"]
    assert kept.content == other.content
    assert other.headers["cache-control"] == "no-store"


def test_what_comes_from_others_is_as_they_made_it() -> None:
    made = {
        "htmx.min.js": "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
        "hx-sse.min.js": "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
    }
    for name, digest in made.items():
        body = (FOLDER / "static" / "vendor" / name).read_bytes()
        assert sha256(body).hexdigest() == digest


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
    pages = [path.read_text(encoding="utf-8") for path in (FOLDER / "templates").rglob("*.html")]

    assert pages
    for page in pages:
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script>", page)
        assert "|safe" not in page.replace(" ", "")


def test_nothing_is_fetched_from_elsewhere() -> None:
    # htmx, from others, is held to this in a browser.
    for path in [*(FOLDER / "static").iterdir(), *(FOLDER / "templates").rglob("*.*")]:
        if path.is_dir():
            continue
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert "//" not in re.sub(r"^\s*// .*$", "", text, flags=re.MULTILINE), path.name
        assert "@import" not in text
