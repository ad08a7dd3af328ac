"""The static files, and the template environment with its filters and functions."""

from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sayso.approvals import APPROVAL_SECONDS, Approval, Approvals
from sayso.console import words
from sayso.console.arguments import argument_rows, in_short, plan_table
from sayso.console.audit.calls import LoggedCall
from sayso.console.audit.endings import by_whom, ending, settlement, took
from sayso.console.home import HOME
from sayso.console.text import as_json, kept, lasting, moment, reveal, reveal_block, roughly
from sayso.console.tools.fields import WHOLE
from sayso.console.tools.inventory import key_of
from sayso.console.words import hint_rows
from sayso.gateway import PATH
from sayso.schema import cut, unquoted

_TEMPLATES: Final = Path(__file__).parent / "templates"
_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Assets:
    """The static files, read once. They are served without a session."""

    def __init__(self, home: str) -> None:
        self._home = home
        # Files of other types, such as licences, are not served.
        self._files = {
            path.relative_to(_FOLDER).as_posix(): path.read_bytes()
            for path in sorted(_FOLDER.rglob("*"))
            if path.suffix in _TYPES
        }
        self._stamps = {name: sha256(body).hexdigest()[:12] for name, body in self._files.items()}

    def address(self, name: str) -> str:
        """Return a file's URL, which changes with its content. Raises `KeyError` if unknown."""
        return f"{self._home}/static/{name}?v={self._stamps[name]}"

    def routes(self) -> list[Route]:
        return [Route("/static/{name:path}", self._serve)]

    async def _serve(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            raise HTTPException(404)
        response = Response(self._files[name], media_type=_TYPES[Path(name).suffix])
        if request.query_params.get("v") == self._stamps[name]:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def make_environment(base_url: str, approvals: Approvals, assets: Assets) -> Environment:
    """Return a template environment that escapes every value and fails for undefined ones."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "amount": words.amount,
        "block": reveal_block,
        "cut": cut,
        "in_short": in_short,
        "person": words.person,
        "kept": kept,
        "name": unquoted,
        "as_json": as_json,
    }
    cast("dict[str, Any]", environment.filters).update(filters)
    cast("dict[str, Any]", environment.globals).update(
        _names(base_url, approvals), asset=assets.address
    )
    return environment


def _finalize(value: Any) -> Any:
    """Reveal hidden characters in every text that a template outputs."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return reveal(value)
    return value


def _names(base_url: str, approvals: Approvals) -> dict[str, Any]:
    clock = approvals.clock

    def at(seconds: float) -> Markup:
        return moment(seconds, clock())

    def left(until: float) -> str:
        return lasting(until - clock())

    def settled(approval: Approval, call: LoggedCall | None) -> Markup:
        return settlement(approval, call, clock())

    def ended(call: LoggedCall) -> Markup:
        return ending(call, clock())

    return {
        "home": HOME,
        "mcp_url": f"{base_url}{PATH}",
        "words": words,
        "argument_rows": argument_rows,
        "plan_table": plan_table,
        "hint_rows": hint_rows,
        "key_of": key_of,
        "WHOLE": WHOLE,
        "moment": at,
        "left": left,
        "lasting": lasting,
        "lifetime": roughly(APPROVAL_SECONDS),
        "settlement": settled,
        "ending": ended,
        "took": took,
        "by_whom": by_whom,
    }
