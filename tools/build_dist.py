"""Builds the wheel and the sdist of a commit; the same commit gives the same bytes.

Usage: `.venv/bin/python tools/build_dist.py [--check]`, as `make dist` runs it. Only committed
files go in. With `--check`, builds twice, each time under other conditions, and compares the files.
The compressed bytes also depend on zlib, so compare builds of the same Python.
"""

import argparse
import hashlib
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
DIST: Final = ROOT / "dist"


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a build, which must not show in its files.

    `modified` is the time of all source files, in seconds since 1970, and `owner` their user ID.
    """

    folder: str = "source"
    umask: int = 0o022
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    modified: int | None = None
    owner: int | None = None


PLAIN: Final = Conditions()
UNUSUAL: Final = Conditions(
    folder="another place/with a longer path",
    umask=0o077,
    variables={"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "7"},
    modified=1_000_000_000,
    owner=12345 if os.geteuid() == 0 else None,
)


def commit_time(repository: Path) -> int:
    """Return the time of the last commit, in seconds since 1970."""
    return int(_git(repository, "log", "-1", "--format=%ct"))


def build(repository: Path, target: Path, conditions: Conditions = PLAIN) -> dict[str, str]:
    """Build the last commit of `repository` into `target`; return the SHA-256 of each file.

    Raises `subprocess.CalledProcessError` if git or the build fails.
    """
    target.mkdir(parents=True, exist_ok=True)
    for old in (*target.glob("*.whl"), *target.glob("*.tar.gz")):
        old.unlink()
    epoch = str(commit_time(repository))
    archive = _git(repository, "archive", "--format=tar", "HEAD")
    with TemporaryDirectory() as temporary:
        source = Path(temporary) / conditions.folder
        _extract(archive, source, conditions)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-d", str(target.resolve())],
            cwd=source,
            env={**os.environ, "SOURCE_DATE_EPOCH": epoch, **conditions.variables},
            umask=conditions.umask,
            capture_output=True,
            check=True,
        )
    return digests(target)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each wheel and sdist in a folder, by name."""
    files = sorted((*folder.glob("*.whl"), *folder.glob("*.tar.gz")))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def _extract(archive: bytes, source: Path, conditions: Conditions) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(source, filter="data")
    for path in source.rglob("*"):
        if not path.is_dir():
            path.chmod(path.stat().st_mode & ~conditions.umask)
        if conditions.modified is not None:
            os.utime(path, (conditions.modified, conditions.modified))
        if conditions.owner is not None:
            os.chown(path, conditions.owner, conditions.owner)


def _git(repository: Path, *words: str) -> bytes:
    command = ["git", "-C", str(repository), *words]
    return subprocess.run(command, capture_output=True, check=True).stdout


def main() -> int:
    """Build into dist/, and with --check compare with a build under other conditions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="build twice and compare")
    is_check = parser.parse_args().check
    built = build(ROOT, DIST)
    for name, digest in built.items():
        print(f"{digest}  dist/{name}")
    if not is_check:
        return 0
    with TemporaryDirectory() as other:
        again = build(ROOT, Path(other), UNUSUAL)
    if again != built:
        print(f"the second build differs: {again}", file=sys.stderr)
        return 1
    print("a second build under other conditions gave the same bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
