"""The git repository of the seeded world: commits, branches, a tag, changes, a stale index."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

_LATER: Final = 3600


def write_repository(folder: Path, moment: int) -> dict[str, tuple[str, ...]]:
    """Write one below `folder`; its branches, tags and commits, newest first.

    Nothing where git is not installed. No configuration of this machine is read, and all times
    are `moment`, so the commits are the same everywhere. The index is written anew without the
    times and sizes of files, so `git status` wants to refresh it.
    """
    program = shutil.which("git")
    if program is None:
        return {}
    folder.mkdir()

    def git(*words: str, at: int = 0) -> str:
        done = subprocess.run(  # noqa: S603 - git itself, with our own words
            [program, "-C", str(folder), *words],
            env=_environment(folder, moment + at * _LATER),
            capture_output=True,
            check=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout.strip()

    def commit(message: str, at: int) -> None:
        git("add", "--all")
        git("commit", "--quiet", "--message", message, at=at)

    git("init", "--quiet", "--template=", "--initial-branch=main")
    git("config", "user.name", "Ada")
    git("config", "user.email", "ada@example.com")
    (folder / "README.md").write_text("# Demo\n", encoding="utf-8")
    (folder / "src").mkdir()
    (folder / "src" / "app.py").write_text("print('one')\n", encoding="utf-8")
    commit("Begin", 0)
    git("tag", "v1.0")
    git("checkout", "--quiet", "-b", "feature")
    (folder / "src" / "extra.py").write_text("EXTRA = True\n", encoding="utf-8")
    commit("Add something", 1)
    git("checkout", "--quiet", "main")
    (folder / "src" / "app.py").write_text("print('two')\n", encoding="utf-8")
    commit("Say two", 2)
    git("branch", "old", "v1.0")
    (folder / "README.md").write_text("# Demo\n\nNot committed yet.\n", encoding="utf-8")
    (folder / "untracked.txt").write_text("Not added yet.\n", encoding="utf-8")
    (folder / ".git" / "index").unlink()
    git("read-tree", "HEAD")
    (folder / "staged.txt").write_text("Added, not committed yet.\n", encoding="utf-8")
    staged = git("hash-object", "-w", "staged.txt")
    git("update-index", "--add", "--cacheinfo", f"100644,{staged},staged.txt")
    commits = git("log", "--format=%H").split()
    return {"branch": ("main", "feature", "old"), "tag": ("v1.0",), "commit": tuple(commits)}


def _environment(folder: Path, moment: int) -> dict[str, str]:
    when = f"{moment} +0000"
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_DATE": when,
        "GIT_TERMINAL_PROMPT": "0",
    }
