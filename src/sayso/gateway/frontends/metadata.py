"""OAuth metadata: where a client without a token gets one (RFC 9728)."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sayso.access import ALL, WELL_KNOWN, Access


def metadata_routes(access: Access) -> list[Route]:
    """Return the routes of the metadata of each protected endpoint, which every page may read."""

    async def show(request: Request) -> Response:
        found = access.metadata(request.path_params.get("path") or ALL)
        if found is None:
            return Response(status_code=404)
        return JSONResponse(found, headers={"access-control-allow-origin": "*"})

    return [Route(WELL_KNOWN, show), Route(WELL_KNOWN + "{path:path}", show)]
