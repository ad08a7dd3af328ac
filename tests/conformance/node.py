"""Clients that run on Node: the TypeScript SDK's, and MCP Inspector's command line."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.conformance.python import Answers, Where
from tests.conformance.script import Step

NPM = Path(__file__).parents[1] / "npm"
PACKAGES = NPM / "node_modules/@modelcontextprotocol"
EVERYTHING = PACKAGES / "server-everything/dist/index.js"
INSPECTOR = PACKAGES / "inspector-cli/build/cli.js"

needs_npm = pytest.mark.skipif(
    shutil.which("node") is None or not EVERYTHING.exists(),
    reason="needs node, and the servers that `make setup` installs from npm",
)

_SECONDS = 60.0


async def speak_typescript(where: Where, era: str, steps: Sequence[Step]) -> Answers:
    """What the TypeScript SDK's client is answered."""
    told = {"where": where, "era": era, "steps": [one.as_json() for one in steps]}
    code, out, err = await _run(str(NPM / "client.mjs"), said=json.dumps(told).encode())
    assert code == 0, err
    return json.loads(out)


async def speak_inspector(where: Where, era: str, steps: Sequence[Step]) -> Answers:
    """What MCP Inspector prints: it is started anew for each step, and takes texts and numbers."""
    assert era == "legacy", "it speaks no other"
    place = [where] if isinstance(where, str) else where
    answers: Answers = {}
    for step in steps:
        if (words := _words(step)) is None:
            continue
        code, out, err = await _run(str(INSPECTOR), "--cli", *place, *words)
        answers[step.name] = {"result": json.loads(out)} if code == 0 else {"error": err.strip()}
    return answers


def _words(step: Step) -> list[str] | None:
    """A step as options; `None` for what cannot be said so."""
    said = step.params.get("arguments", {})
    if step.until or step.is_cancelled or any("\0" in str(one) for one in said.values()):
        return None
    options: dict[str, list[str]] = {
        "tools/list": [],
        "prompts/list": [],
        "resources/list": [],
        "resources/templates/list": [],
        "tools/call": ["--tool-name", step.params.get("name", ""), *_pairs("--tool-arg", said)],
        "prompts/get": [
            "--prompt-name",
            step.params.get("name", ""),
            *_pairs("--prompt-args", said),
        ],
        "resources/read": ["--uri", step.params.get("uri", "")],
        "logging/setLevel": ["--log-level", step.params.get("level", "")],
    }
    return ["--method", step.method, *options[step.method]] if step.method in options else None


def _pairs(option: str, said: dict[str, Any]) -> list[str]:
    pairs = [
        f"{key}={one if isinstance(one, str) else json.dumps(one)}" for key, one in said.items()
    ]
    return [option, *pairs] if pairs else []


async def _run(*words: str, said: bytes = b"") -> tuple[int, str, str]:
    with anyio.fail_after(_SECONDS):
        done = await anyio.run_process(["node", *words], input=said, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()
