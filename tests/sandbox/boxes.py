"""Runs a few lines of Python in a box of their own."""

import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from sayso.sandbox.box import Box, SandboxSpec, open_box
from sayso.sandbox.spec import Layer


@dataclass
class Ran:
    """What came of it. `written` is what places held, by their paths inside."""

    said: str
    complaint: str
    code: int | None
    box: Box
    written: dict[str, bytes]
    trace: str


Run = Callable[..., Coroutine[Any, Any, Ran]]


def run_in_box(layers: Sequence[Layer]) -> Run:
    async def run(code: str, *args: str, spec: SandboxSpec | None = None, **kept: Any) -> Ran:
        words = (sys.executable, "-c", code, *args)
        wished = replace(spec or SandboxSpec(words), **kept)
        async with open_box(wished if spec else replace(wished, command=words), layers) as box:
            return await start(box)

    return run


async def start(box: Box) -> Ran:
    """Start what stands in a box, and wait for its end."""
    with anyio.fail_after(30):
        done = await anyio.run_process(box.command, env=box.env, cwd=box.cwd, check=False)
    written = {
        place.inside_of(file): file.read_bytes()
        for place in box.places
        for file in place.host.rglob("*")
        if file.is_file()
    }
    trace = box.trace.read_text(errors="replace") if box.trace else ""
    said, complaint = done.stdout.decode(), done.stderr.decode()
    return Ran(said, complaint, done.returncode, box, written, trace)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
