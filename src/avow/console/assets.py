"""The stylesheet, the script and the icon, and nothing else from that folder."""

from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER: Final = Path(__file__).parent / "static"
_TYPES: Final = {
    "console.css": "text/css",
    "console.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def asset_routes() -> list[Route]:
    """The files, read once; they are the same for everybody, so they need no session."""
    files = {name: (_FOLDER / name).read_bytes() for name in _TYPES}

    async def serve(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            raise HTTPException(404)
        return Response(files[name], media_type=_TYPES[name])

    return [Route("/static/{name}", serve)]
