"""The page: one file with its style inside, without a script, in which every value is escaped."""

from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from sayso.sandbox import Layer
from sayso.schema import cut, plain
from sayso.trace import Observer
from sayso.verify.report.html.rows import group, row_of
from sayso.verify.report.summary import summarise, why_no_success
from sayso.verify.report.words import HINTS, STATES, count_of, standing
from sayso.verify.verdict import Report
from sayso.version import __version__

_FOLDER: Final = Path(__file__).parent
_POLICY: Final = "default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'"
_OBSERVERS: Final = frozenset[str](Observer)


def as_html(report: Report) -> str:
    """Write the whole page, the same for the same report."""
    style = _style()
    text = _template().render(
        report=report,
        server=str(report.server.get("name") or report.target),
        server_version=str(report.server.get("version") or ""),
        summary=summarise(report),
        rows=[row_of(index, tool) for index, tool in enumerate(report.tools)],
        ignored=group(effect for tool in report.tools for effect in tool.ignored),
        layers=_layers(report),
        version=__version__,
        style=Markup(style),  # noqa: S704 - our own file
        policy=_POLICY.format(_digest(style)),
    )
    return f"{text}\n"


def _layers(report: Report) -> Sequence[tuple[str, Sequence[Layer]]]:
    """Part the layers into what contained the server, and what watched it."""
    watching = [layer for layer in report.layers if layer.name in _OBSERVERS]
    containing = [layer for layer in report.layers if layer.name not in _OBSERVERS]
    return [("Containment", containing), ("Observers", watching)]


@lru_cache(maxsize=1)
def _style() -> str:
    return (_FOLDER / "page.css").read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Name a style as a policy does that permits no other (CSP Level 3, hash-source)."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    cast("dict[str, Any]", environment.filters).update(cut=cut, block=_block)
    cast("dict[str, Any]", environment.globals).update(
        HINTS=HINTS,
        STATES=STATES,
        count_of=count_of,
        standing=standing,
        why_no_success=why_no_success,
    )
    return environment.get_template("page.html")


def _finalize(value: Any) -> Any:
    """Spell out what hides in a text, before the template escapes it and puts it out."""
    if isinstance(value, str) and not isinstance(value, Markup) and not value.isprintable():
        return plain(value)
    return value


def _block(text: str) -> Markup:
    """Turn text whose line ends are our own into HTML for `pre`."""
    return escape("\n".join(plain(line) for line in text.split("\n")))
