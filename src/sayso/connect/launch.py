"""`python -m sayso.connect.launch FILE [OBJECT]`: serve a Python file's MCP server over stdio.

The file's own output goes to stderr while the file is loaded, because stdout is for MCP messages.
An error in the file becomes one line on stderr, `file:line: what`, and exit code 2.
"""

import contextlib
import os
import sys
from collections.abc import Generator, Sequence
from typing import Any, cast

import anyio

from sayso.connect.pyfile import faults_told, kind_of, load_server
from sayso.errors import SaysoError, TargetError


def main(argv: Sequence[str]) -> int:
    """Load and serve; return the process's exit code."""
    try:
        path, name = _arguments(argv)
        with _streams_put_aside():
            server = load_server(path, name)
        with faults_told(path), _late_prints_put_aside():
            serve(server)
    except SaysoError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def serve(server: object) -> None:
    """Run a server on this process's stdin and stdout until the client hangs up."""
    kind = kind_of(server)
    runnable = cast("Any", server)
    if kind == "MCPServer":
        runnable.run("stdio")
    elif kind == "FastMCP":
        runnable.run("stdio", show_banner=False)
    else:
        anyio.run(_serve_lowlevel, runnable)


async def _serve_lowlevel(server: Any) -> None:
    from mcp.server.stdio import stdio_server  # noqa: PLC0415 - the others bring their own

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _arguments(argv: Sequence[str]) -> tuple[str, str | None]:
    match argv:
        case [path]:
            return path, None
        case [path, name]:
            return path, name
        case _:
            fix = "Write python -m sayso.connect.launch FILE [OBJECT]."
            raise TargetError("requires a file, and accepts one object", fix=fix)


@contextlib.contextmanager
def _streams_put_aside() -> Generator[None]:
    """In this context, make stdin empty and send stdout to stderr, for child processes too.

    A file that starts its server on import then sees the end of stdin and stops. A file that reads
    stdin gets no MCP message.
    """
    kept = [os.dup(0), os.dup(1)]
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - devnull is a name, not a path
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    # Use a new stream, because the file may wrap, keep or close sys.stdout.
    aside = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    try:
        with contextlib.redirect_stdout(aside):
            yield
    finally:
        for stream in (aside, sys.__stdout__):
            # The file may have closed it, and a process without a console has none.
            with contextlib.suppress(AttributeError, ValueError):
                cast("Any", stream).flush()
        for fd, copy in enumerate(kept):
            os.dup2(copy, fd)
            os.close(copy)


@contextlib.contextmanager
def _late_prints_put_aside() -> Generator[None]:
    """On leaving, flush the tools' buffered output to stderr.

    The SDK keeps stray output off stdout only while it serves; the buffer is flushed later.
    """
    try:
        yield
    finally:
        with _streams_put_aside():
            pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
