"""Folders that are restored to an earlier state."""

import filecmp
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Self


class RestoredFolders:
    """Copies folders into the new folder `room` on entering, and restores them on leaving.

    Only differences are written or removed, so no folder is emptied and filled again.
    """

    def __init__(self, folders: Sequence[Path], room: Path) -> None:
        self.folders = tuple(folders)
        self._copies = {folder: room / str(number) for number, folder in enumerate(self.folders)}

    def __enter__(self) -> Self:
        for folder, copy in self._copies.items():
            shutil.copytree(folder, copy, symlinks=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.put_back()

    def put_back(self) -> None:
        for folder, copy in self._copies.items():
            _clear(folder, copy)
            _fill(folder, copy)


def _clear(folder: Path, copy: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        wanted = copy / path.relative_to(folder)
        if _kind(path) != _kind(wanted):
            _remove(path)


def _fill(folder: Path, copy: Path) -> None:
    for wanted in sorted(copy.rglob("*")):
        path = folder / wanted.relative_to(copy)
        kind = _kind(wanted)
        if kind == "folder":
            path.mkdir(exist_ok=True)
            shutil.copystat(wanted, path)
        elif kind.startswith("link "):
            if not path.is_symlink():
                path.symlink_to(wanted.readlink())
        elif not path.exists() or not filecmp.cmp(wanted, path, shallow=False):
            shutil.copy2(wanted, path)
        else:
            shutil.copystat(wanted, path)


def _kind(path: Path) -> str:
    if path.is_symlink():
        return f"link {path.readlink()}"
    if path.is_dir():
        return "folder"
    return "file" if path.exists() else ""


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
