"""The web site of the seeded world, on loopback: pages, a JSON API, and a log of requests.

Requests change nothing on the site. They are recorded, since a request such as POST is an external
effect; a GET counts only as a connection.
"""

import json
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

_HTML: Final = "text/html; charset=utf-8"
_JSON: Final = "application/json"
_LARGEST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """The response at one path. `location` is the target of a redirect."""

    body: str
    kind: str = _HTML
    status: int = 200
    location: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the site has received."""

    method: str
    path: str


PAGES: Final[Mapping[str, Page]] = {
    path: Page(**page)
    for path, page in json.loads(Path(__file__).with_name("web.json").read_text("utf-8")).items()
}
"""Pages by path. The site accepts POST, PUT, PATCH and DELETE on every path."""


@dataclass(slots=True)
class Site:
    """A running web site at `address`, with the requests received so far."""

    host: str
    port: int
    requests: list[Request] = field(default_factory=list[Request])

    @property
    def address(self) -> str:
        """Return `host:port`."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Return the site's URL without a trailing slash."""
        return f"http://{self.address}"


@contextmanager
def serve_world(port: int = 0) -> Generator[Site]:
    """Serve the web site on loopback until the block ends; by default on a free port."""
    site = Site("127.0.0.1", port)

    class Handler(_Handler):
        seen = site.requests

    server = ThreadingHTTPServer((site.host, port), Handler)
    server.daemon_threads = True
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    seen: list[Request]
    timeout = 10

    def do_GET(self) -> None:
        self._note()
        self._answer(PAGES.get(self.path.split("?")[0], Page("<h1>Not found</h1>", status=404)))

    def do_POST(self) -> None:
        self._note()
        length = self.headers.get("Content-Length", "0")
        size = min(int(length), _LARGEST) if length.isdigit() else 0
        self.rfile.read(size)
        status = 201 if self.command == "POST" else 200
        self._answer(Page(json.dumps({"ok": True, "bytes": size}), _JSON, status))

    do_HEAD = do_GET  # noqa: N815
    do_OPTIONS = do_GET  # noqa: N815
    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing. `_note` records the requests."""

    def _note(self) -> None:
        self.seen.append(Request(self.command, self.path))

    def _answer(self, page: Page) -> None:
        body = page.body.encode()
        self.send_response(page.status)
        if page.location:
            self.send_header("Location", page.location)
        self.send_header("Content-Type", page.kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
