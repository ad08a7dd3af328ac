"""Installs a wheel with pip into an empty environment, and prints what each package takes on disk.

Usage: python tools/installed_size.py dist/sayso-VERSION-py3-none-any.whl [EXTRA…]. Fails above the
limit of the base installation. Bytecode counts, pip and setuptools do not. A file takes whole
blocks, as `du` counts them.
"""

import subprocess
import sys
import tempfile
import venv
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Final

LIMIT_MB: Final = 70
BLOCK: Final = 4096
_TOOLS: Final = frozenset({"pip", "setuptools"})
_MB: Final = 2**20


def installed(wheel: Path, extras: list[str], folder: Path) -> dict[str, int]:
    """Install a wheel below `folder`, and return the bytes of each package."""
    venv.create(folder, with_pip=True)
    suffix = f"[{','.join(extras)}]" if extras else ""
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "install", f"{wheel.resolve()}{suffix}"], check=True)
    return sizes(folder)


def sizes(environment: Path) -> dict[str, int]:
    """Return the bytes on disk of each package in an environment."""
    (site,) = environment.glob("lib/python*/site-packages")
    packages = distributions(path=[str(site)])
    return {package.name: _size(package) for package in packages if package.name not in _TOOLS}


def _size(package: Distribution) -> int:
    paths = [Path(str(package.locate_file(file))) for file in package.files or ()]
    blocks = [-(-path.stat().st_size // BLOCK) for path in paths if path.exists()]
    return sum(blocks) * BLOCK


def main(words: list[str]) -> int:
    """Print the sizes, and return 1 if the base installation is too large."""
    wheel, *extras = words
    with tempfile.TemporaryDirectory() as folder:
        found = installed(Path(wheel), extras, Path(folder) / "venv")
    for name, size in sorted(found.items(), key=lambda item: item[1]):
        print(f"{size / _MB:7.1f} MB  {name}")
    total = sum(found.values()) / _MB
    print(f"{total:7.1f} MB  in {len(found)} packages; the limit of the base is {LIMIT_MB} MB")
    return int(not extras and total > LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
