"""Writes README's install commands, server.json, and the lists of the demo server.

Usage: `make metadata`, after a change of `version.py`, `install_source.py` or `demo` in
`src/sayso`, or of `[project]` in `pyproject.toml`. A test fails while a file is out of date.
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import anyio
from mcp import Client
from pydantic import BaseModel

from sayso.demo.data import open_database
from sayso.demo.server import build_server
from sayso.install_source import InstallSource, default_source
from sayso.installation import shell_line
from sayso.version import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_SECTION: Final = re.compile(
    r"(?P<start><!-- install: `make metadata` writes this -->\n)"
    r".*?(?P<end><!-- end of install -->\n)",
    re.DOTALL,
)
_UNPUBLISHED: Final = """\
No version is published yet. In a clone of this repository, `make dist` builds the wheel.

"""
_MARK: Final = re.compile(r"<!-- mcp-name: .* -->")


def project() -> dict[str, Any]:
    """Return `[project]` of pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def install_lines(source: InstallSource) -> str:
    """Return the README's install commands as Markdown."""
    is_published = source == default_source(is_published=True)
    plain = source.requirement()
    start = "" if is_published else _UNPUBLISHED
    demo = ("uvx", plain, "demo") if is_published else ("uvx", "--from", plain, "sayso", "demo")
    rows = [
        ("pip, in a virtual environment", ("pip", "install", plain)),
        ("uv, in a project", ("uv", "add", plain)),
        ("uv, as a program", ("uv", "tool", "install", plain)),
        ("pipx, as a program", ("pipx", "install", plain)),
        ("uv, only to try it", demo),
    ]
    table = "".join(f"| {name} | `{shell_line(words)}` |\n" for name, words in rows)
    with_extras = shell_line(("pip", "install", source.requirement("mcp", "otel")))
    names = [f"`{name}`" for name in sorted(project()["optional-dependencies"])]
    extras = fill(f"All extras: {', '.join(names)}.", 120, break_on_hyphens=False)
    return (
        f"{start}| with | command |\n| --- | --- |\n{table}\n"
        f"Name extras in brackets: `{with_extras}`. Your own servers and agents need\n"
        f"`mcp`; `fast` halves the cost of a call through the gateway.\n{extras}\n"
        "An error about a missing extra names the command for your installation.\n"
    )


def readme(text: str, source: InstallSource) -> str:
    """Return README with the install commands and the name in the MCP registry."""
    lines = install_lines(source)
    text, sections = _SECTION.subn(lambda match: match["start"] + lines + match["end"], text)
    text, marks = _MARK.subn(f"<!-- mcp-name: {registry_name()} -->", text)
    if (sections, marks) != (1, 1):
        sys.exit("README.md must contain one install section and one mcp-name mark")
    return text


def registry_name() -> str:
    """Return sayso's name in the MCP registry, which follows from the repository's address."""
    owner, name = project()["urls"]["Repository"].removeprefix("https://github.com/").split("/")
    return f"io.github.{owner}/{name}"


def server_json() -> str:
    """Return server.json, the gateway as an entry of the MCP registry."""
    own = project()
    configuration = {
        "type": "positional",
        "valueHint": "configuration",
        "description": "The file with the servers to guard (mcp.json)",
        "format": "filepath",
        "isRequired": True,
    }
    fixed = [{"type": "positional", "value": word} for word in ("gateway", "--stdio")]
    package = {
        "registryType": "pypi",
        "identifier": own["name"],
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [*fixed, configuration],
    }
    entry = {
        "$schema": SCHEMA,
        "name": registry_name(),
        "title": own["name"],
        "description": own["description"],
        "repository": {"url": own["urls"]["Repository"], "source": "github"},
        "version": __version__,
        "packages": [package],
    }
    return json.dumps(entry, indent=2) + "\n"


async def demo_lists() -> str:
    """Return what the demo server lists, for the one that runs without the SDK."""
    with open_database() as database:
        async with Client(build_server(database), mode="legacy") as client:
            info = client.server_info
            if info is None:
                sys.exit("the demo server must say its name")
            lists = {
                "server": {"name": info.name, "title": info.title},
                "capabilities": _as_json(client.server_capabilities),
                "instructions": client.instructions,
                "tools": [_as_json(tool) for tool in (await client.list_tools()).tools],
                "resources": [_as_json(one) for one in (await client.list_resources()).resources],
                "resourceTemplates": [
                    _as_json(template)
                    for template in (await client.list_resource_templates()).resource_templates
                ],
                "prompts": [_as_json(prompt) for prompt in (await client.list_prompts()).prompts],
            }
    return json.dumps(lists, indent=2, ensure_ascii=False) + "\n"


def _as_json(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def written() -> dict[Path, str]:
    """Return the files with the content that they should have."""
    page = ROOT / "README.md"
    return {
        page: readme(page.read_text(encoding="utf-8"), default_source()),
        ROOT / "server.json": server_json(),
        ROOT / "src" / "sayso" / "demo" / "lists.json": anyio.run(demo_lists),
    }


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")
