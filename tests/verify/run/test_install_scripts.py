"""A package whose native module is missing: the error names the option that builds it."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import anyio
import pytest

from sayso.connect import CommandTarget
from sayso.errors import UncontainedError, UnreachableError, UsageError
from sayso.sandbox.probe import check_layers, probe_layers
from sayso.verify.options import Terms
from sayso.verify.run import verify
from sayso.verify.verdict import Report

pytestmark = pytest.mark.process
SERVER = """#!/usr/bin/env node
const answers = JSON.parse(require('fs').readFileSync(__dirname + '/built.json'));
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answers[method] }));
});
"""
ANSWERS = {
    "initialize": {
        "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "built", "version": "1"},
        }
    },
    "tools/list": {"result": {"tools": [{"name": "ping", "inputSchema": {"type": "object"}}]}},
    "tools/call": {"result": {"content": [{"type": "text", "text": "pong"}]}},
}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that cannot start before its install script has run."""
    source = tmp_path / "package"
    source.mkdir()
    package = {
        "name": "built-server",
        "version": "1.0.0",
        "bin": "serve.js",
        "scripts": {"install": "cp answers.json built.json"},
    }
    (source / "package.json").write_text(json.dumps(package))
    (source / "answers.json").write_text(json.dumps(ANSWERS))
    (source / "serve.js").write_text(SERVER)
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as file:
        file.add(source, "package")
    # A setting that names the package lets the installer see it.
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "a.tgz"))
    return tmp_path / "a.tgz"


async def verified(*args: str, command: str = "npx", **terms: Any) -> Report:
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    try:
        check_layers(await probe_layers(), is_uncontained=False)
    except UncontainedError as error:
        pytest.skip(str(error))
    with anyio.fail_after(120):
        return await verify(Terms(target=CommandTarget("built", command, args), calls=1, **terms))


async def test_without_its_install_script_the_error_names_the_option(archive: Path) -> None:
    with pytest.raises(UnreachableError, match=r"built-server.*--install-scripts"):
        await verified("-p", f"file:{archive}", "built-server")


async def test_with_the_option_the_script_runs_and_the_server_starts(archive: Path) -> None:
    report = await verified("-p", f"file:{archive}", "built-server", runs_install_scripts=True)
    assert report.tools[0].reach.successes == 1
    assert not [note for note in report.notes if "--install-scripts" in note]


async def test_the_option_is_refused_where_npx_starts_nothing() -> None:
    with pytest.raises(UsageError, match="--install-scripts needs a server that npx starts"):
        await verified("serve.js", command="node", runs_install_scripts=True)
