"""The static files: stylesheets, scripts and the icon."""

from hashlib import sha256
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Assets:
    """The static files, read once; they need no session."""

    def __init__(self, home: str) -> None:
        self._home = home
        # Licences are not served.
        self._files = {
            path.relative_to(_FOLDER).as_posix(): path.read_bytes()
            for path in sorted(_FOLDER.rglob("*"))
            if path.suffix in _TYPES
        }
        self._stamps = {name: sha256(body).hexdigest()[:12] for name, body in self._files.items()}

    def address(self, name: str) -> str:
        """Return a file's URL, which changes with its content. Raises `KeyError`."""
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
