"""Proxies that others have made, to be measured beside sayso.

Each is installed by uv into a virtual environment of its own, so that nothing of it mixes with what
sayso needs; what cannot be had is left out, with the reason.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from load import MODERN, OLD

HERE: Final = Path(__file__).parent
CACHE: Final = HERE.parent / ".cache"
PLACE: Final = CACHE / "beside"
INSTALL_SECONDS: Final = 300

_DOCUMENTED: Final = """
from fastmcp.server import create_proxy

create_proxy({url!r}).run("http", port={port}, show_banner=False)
"""
_ONE_SESSION: Final = """
import asyncio

from fastmcp import Client
from fastmcp.server import create_proxy


async def main():
    async with Client({url!r}) as client:
        await create_proxy(client).run_async("http", port={port}, show_banner=False)


asyncio.run(main())
"""


class MissingError(Exception):
    """It cannot be had, and why."""


@dataclass(frozen=True, slots=True)
class Other:
    """A proxy: what it is called, the package it is in, and the versions that it speaks.

    `words` start it, given where its programs are, the URL of the server behind, and a port.
    """

    name: str
    package: str
    versions: Sequence[str]
    words: Callable[[Path, str, int], Sequence[str]]

    def install(self) -> Path:
        """Where its programs are; installed if they are not yet. Raises `MissingError`."""
        place = PLACE / self.package.replace("==", "-")
        done = place / "done"
        if done.exists():
            return place / "bin"
        uv = shutil.which("uv") or str(CACHE / "uv-venv" / "bin" / "uv")
        make = [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place)]
        fill = [uv, "pip", "install", "--quiet", "--python", str(place / "bin" / "python")]
        try:
            for words in (make, [*fill, self.package]):
                subprocess.run(words, check=True, capture_output=True, timeout=INSTALL_SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error).encode()
            raise MissingError(said.decode(errors="replace").strip().split("\n")[-1]) from error
        done.touch()
        return place / "bin"


def _program(text: str) -> Callable[[Path, str, int], Sequence[str]]:
    def words(programs: Path, url: str, port: int) -> Sequence[str]:
        return [str(programs / "python"), "-c", text.format(url=url, port=port)]

    return words


def _mcp_proxy(programs: Path, _url: str, port: int) -> Sequence[str]:
    # It has no way from HTTP to HTTP: the same server is behind it over stdio.
    behind = [sys.executable, str(HERE / "behind.py"), "stdio", "100"]
    return [str(programs / "mcp-proxy"), "--port", str(port), "--", *behind]


OTHERS: Final = (
    Other("FastMCP", "fastmcp==4.1.2", (MODERN, OLD), _program(_DOCUMENTED)),
    Other("FastMCP, 1 session", "fastmcp==4.1.2", (MODERN, OLD), _program(_ONE_SESSION)),
    Other("mcp-proxy", "mcp-proxy==0.13.0", (OLD,), _mcp_proxy),
)
"""FastMCP's proxy as its documentation has it, which is a session behind for each call, and with
one session for all; mcp-proxy before a server of its own, whose processor time is counted too."""
