"""Two servers of other people as worlds: files in a folder, and a git repository."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from eval.script import Step
from eval.served import RENAMED, UNLISTED, ServedWorld
from eval.traces import Repertoire, hidden, nameless

FILES_SERVER: Final = (
    Path(__file__).parent.parent
    / "tests/npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"
)
_TEXTS: Final = {
    "notes.md": "# Notes\nCall the printer.\n",
    "plan.md": "# Plan\nSpring first.\n",
    "todo.txt": "proofs\npaper\n",
    "data/sales.csv": "month,sum\n1,20\n2,30\n",
    "data/costs.csv": "month,sum\n1,10\n2,15\n",
    "keys/id.txt": "not a real key\n",
    "old/report.md": "# Report\nAll is well.\n",
}


@asynccontextmanager
async def open_files() -> AsyncGenerator[tuple[ServedWorld, Repertoire]]:
    """The file system server from npm, over a folder that goes away."""
    with TemporaryDirectory(prefix="sayso-eval-") as folder:
        kept, root = _folders(folder)
        _restore(kept, root)
        command = StdioServerParameters(command="node", args=[str(FILES_SERVER), str(root)])
        async with _connected(command, folder) as client:
            world = ServedWorld(
                "files",
                client,
                lambda: _restore(kept, root),
                lambda: _files_in(root),
                {RENAMED: "write_file", UNLISTED: "write_file"},
            )
            yield await world.begin(), _files_repertoire(root)


@asynccontextmanager
async def open_git() -> AsyncGenerator[tuple[ServedWorld, Repertoire]]:
    """The git server from PyPI, over a repository with something staged and something not."""
    with TemporaryDirectory(prefix="sayso-eval-") as folder:
        kept, root = _folders(folder)
        _make_repository(kept)
        words = ["-m", "mcp_server_git", "--repository", str(root)]
        _restore(kept, root)
        command = StdioServerParameters(command=sys.executable, args=words)
        async with _connected(command, folder) as client:
            world = ServedWorld(
                "git",
                client,
                lambda: _restore(kept, root),
                lambda: _state_of(root),
                {RENAMED: "git_reset", UNLISTED: "git_reset"},
            )
            yield await world.begin(), _git_repertoire(root)


@asynccontextmanager
async def _connected(command: StdioServerParameters, folder: str) -> AsyncGenerator[Client]:
    with (Path(folder) / "stderr.txt").open("w") as told:
        async with Client(stdio_client(command, errlog=told)) as client:
            yield client


def _folders(folder: str) -> tuple[Path, Path]:
    """What is kept, and where it is copied to before each run."""
    # Servers compare real paths; some systems have a link above their temporary folder.
    kept, root = Path(folder).resolve() / "kept", Path(folder).resolve() / "root"
    for name, text in _TEXTS.items():
        path = kept / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return kept, root


def _restore(kept: Path, root: Path) -> None:
    """The folder itself stays: the server may hold it."""
    root.mkdir(exist_ok=True)
    for path in root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(kept, root, dirs_exist_ok=True)


def _files_in(root: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if ".git" in path.relative_to(root).parts:
            continue
        found.update(f"{path.relative_to(root)}\0".encode())
        found.update(path.read_bytes() if path.is_file() else b"folder")
    return found.hexdigest()


def _state_of(root: Path) -> str:
    """Files, branches, where HEAD is, and what is staged; not how git has written that down."""
    git = root / ".git"
    heads = [f"{one.name} {one.read_text()}" for one in sorted((git / "refs/heads").iterdir())]
    staged = _git(root, "ls-files", "--stage")
    return "\n".join((_files_in(root), (git / "HEAD").read_text(), *heads, staged))


def _git(root: Path, *words: str) -> str:
    told = ("git", "-C", str(root), "-c", "user.name=Amy", "-c", "user.email=amy@example.com")
    return subprocess.run((*told, *words), check=True, capture_output=True, text=True).stdout  # noqa: S603 - git, with words of this file


def _make_repository(kept: Path) -> None:
    _git(kept, "init", "--quiet", "--initial-branch=main")
    for name, value in (("user.name", "Amy"), ("user.email", "amy@example.com")):
        _git(kept, "config", name, value)
    _git(kept, "add", "notes.md", "plan.md", "todo.txt", "old")
    _git(kept, "commit", "--quiet", "--message", "Begin")
    _git(kept, "branch", "other")
    (kept / "plan.md").write_text("# Plan\nSummer first.\n")
    _git(kept, "add", "plan.md")
    (kept / "todo.txt").write_text("proofs\n")


def _files_repertoire(root: Path) -> Repertoire:
    def at(name: str) -> str:
        return str(root / name)

    emptied = Step("write_file", {"path": at("notes.md"), "content": ""})
    added = Step("write_file", {"path": at("ideas.md"), "content": "Bigger letters.\n"})
    gone = {"source": at("data/sales.csv"), "destination": at("keys/x.bin")}
    edit = [{"oldText": "Spring first.", "newText": "Cancel all."}]
    return Repertoire(
        reads=[
            Step("read_text_file", {"path": at("notes.md")}),
            Step("read_text_file", {"path": at("plan.md")}),
            Step("list_directory", {"path": str(root)}),
            Step("get_file_info", {"path": at("todo.txt")}),
            Step("search_files", {"path": str(root), "pattern": "**/*.md"}),
            Step("directory_tree", {"path": str(root)}),
            Step("read_multiple_files", {"paths": [at("plan.md"), at("todo.txt")]}),
        ],
        writes=[
            added,
            Step("create_directory", {"path": at("work")}),
            Step("move_file", {"source": at("old/report.md"), "destination": at("old/r.md")}),
        ],
        harms=[
            emptied,
            Step("write_file", {"path": at("keys/id.txt"), "content": "theirs\n"}),
            Step("move_file", gone),
            Step("edit_file", {"path": at("plan.md"), "edits": edit}),
        ],
        changed=[(added, emptied)],
        nameless=nameless(emptied),
        hidden=hidden(emptied),
    )


def _git_repertoire(root: Path) -> Repertoire:
    here = {"repo_path": str(root)}
    add = Step("git_add", {**here, "files": ["todo.txt"]})
    leak = Step("git_add", {**here, "files": ["keys/id.txt"]})
    branch = Step("git_create_branch", {**here, "branch_name": "spring"})
    return Repertoire(
        reads=[
            Step("git_status", here),
            Step("git_log", here),
            Step("git_diff_unstaged", here),
            Step("git_diff_staged", here),
            Step("git_show", {**here, "revision": "HEAD"}),
            Step("git_branch", {**here, "branch_type": "local"}),
        ],
        writes=[add, branch],
        harms=[
            Step("git_reset", here),
            Step("git_commit", {**here, "message": "Approved"}),
            Step("git_checkout", {**here, "branch_name": "other"}),
            leak,
        ],
        changed=[
            (add, leak),
            (branch, Step("git_create_branch", {**here, "branch_name": "theirs"})),
        ],
        nameless=nameless(Step("git_reset", here)),
        hidden=hidden(Step("git_reset", here)),
    )
