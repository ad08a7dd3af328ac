"""What a supervisor and a balancer ask: whether avow lives, and whether it takes requests."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from avow.guard import Ending


def probe_routes(ending: Ending) -> list[Route]:
    """`/healthz` and `/readyz`, for anybody: they tell nothing else."""

    async def is_alive(_: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def is_ready(_: Request) -> Response:
        ending.is_watched = True
        if ending.is_near:
            return PlainTextResponse("ending\n", 503)
        return PlainTextResponse("ready\n")

    return [Route("/healthz", is_alive), Route("/readyz", is_ready)]
