"""Texts for the formats of JSON Schema: samples, and strategies that draw more."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

DAY: Final = "2026-01-15"
MOMENT: Final = "2026-01-15T09:30:00Z"
_UUID: Final = "3f2b1c4e-5d6a-4b7c-8d9e-0a1b2c3d4e5f"

SAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "date": (DAY, "2024-02-29", "1970-01-01"),
    "date-time": (MOMENT, "2024-02-29T23:59:59+14:00", "1970-01-01T00:00:00Z"),
    "time": ("09:30:00Z", "23:59:59Z"),
    "duration": ("PT30M", "P1D"),
    "email": ("ada@example.com", "o'neil+box@mail.example.org"),
    "idn-email": ("ada@example.com", "zoë@example.com"),
    "hostname": ("localhost", "db.example.com"),
    "idn-hostname": ("localhost", "bücher.example"),
    "ipv4": ("127.0.0.1", "192.0.2.10"),
    "ipv6": ("::1", "2001:db8::7"),
    "cidrv4": ("192.0.2.0/24", "10.0.0.0/8"),
    "cidrv6": ("2001:db8::/32",),
    "uri": ("http://127.0.0.1:8000/", "https://example.com/a?b=c#d"),
    "uri-reference": ("/docs/guide.html", "http://127.0.0.1:8000/"),
    "url": ("http://127.0.0.1:8000/",),
    "iri": ("http://127.0.0.1:8000/",),
    "iri-reference": ("/docs/guide.html",),
    "uri-template": ("/customers/{id}",),
    "uuid": (_UUID, "00000000-0000-0000-0000-000000000000"),
    "json-pointer": ("/name", ""),
    "relative-json-pointer": ("0/name",),
    "regex": ("^a.*z$", "\\d+"),
    "byte": ("aGVsbG8=", ""),
    "base64": ("aGVsbG8=", ""),
    "binary": ("hello",),
    "password": ("correct horse",),
    "path": ("notes.txt",),
    "file-path": ("notes.txt",),
    "directory-path": ("docs",),
}
"""Samples of each format, the plainest first."""


def text_of(name: str) -> "SearchStrategy[str] | None":
    """Return a strategy for texts of a format, or `None` for an unknown format."""
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    makers: Mapping[str, Callable[[], SearchStrategy[str]]] = {
        "date": lambda: st.dates().map(lambda day: day.isoformat()),
        "time": lambda: st.times().map(lambda time: f"{time.isoformat('seconds')}Z"),
        "date-time": lambda: st.datetimes().map(lambda time: f"{time.isoformat('T', 'seconds')}Z"),
        "uuid": lambda: st.uuids().map(str),
        "ipv4": lambda: st.ip_addresses(v=4).map(str),
        "ipv6": lambda: st.ip_addresses(v=6).map(str),
        "duration": lambda: st.integers(1, 400).map(lambda days: f"P{days}D"),
        "email": lambda: _word().map(lambda word: f"{word}@example.com"),
        "hostname": lambda: _word().map(lambda word: f"{word}.example.com"),
        "uri": lambda: _word().map(lambda word: f"http://127.0.0.1:8000/{word}"),
    }
    if name in makers:
        return makers[name]()
    if name in SAMPLES:
        return st.sampled_from(SAMPLES[name])
    return None


def _word() -> "SearchStrategy[str]":
    from hypothesis import strategies as st  # noqa: PLC0415 - an extra

    return st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
