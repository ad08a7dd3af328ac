"""Run a program of examples/ as a reader would."""

import os
import sys
from pathlib import Path

import anyio


async def run_example(name: str, environment: dict[str, str]) -> str:
    """What the program writes; fails where it fails."""
    path = Path(__file__).parents[2] / "examples" / name
    with anyio.fail_after(60):
        ended = await anyio.run_process(
            [sys.executable, str(path), "Who is customer 3?"],
            env={**os.environ, **environment},
            check=False,
        )
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode()
