"""The files of a release: the same bytes wherever they are built, and only what is committed."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest
from tools.build_dist import PLAIN, UNUSUAL, build, digests

from sayso.version import __version__

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository with this project's metadata and a few of its modules."""
    folder = tmp_path / "repository"
    package = folder / "src" / "sayso"
    package.mkdir(parents=True)
    for name in ("CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    for name in ("__init__.py", "version.py", "py.typed"):
        shutil.copy(ROOT / "src" / "sayso" / name, package)
    git(folder, "init", "--quiet")
    commit(folder, when="2026-01-02T03:04:06Z")
    return folder


def git(folder: Path, *words: str, when: str = "2026-01-02T03:04:06Z") -> None:
    identity = ("-c", "user.name=amy", "-c", "user.email=amy@example.com")
    environment = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "PATH": "/usr/bin:/bin"}
    subprocess.run(["git", "-C", str(folder), *identity, *words], env=environment, check=True)


def commit(folder: Path, *, when: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change", when=when)


def wheel_names(folder: Path) -> set[str]:
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_place_user_umask_zone_and_file_times_do_not_change_a_byte(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs git and a checkout")
    plain = build(ROOT, tmp_path / "plain")
    unusual = build(ROOT, tmp_path / "unusual", UNUSUAL)
    assert UNUSUAL != PLAIN
    assert unusual == plain
    assert sorted(plain) == [
        f"sayso-{__version__}-py3-none-any.whl",
        f"sayso-{__version__}.tar.gz",
    ]
    assert all(name.startswith("sayso") for name in wheel_names(tmp_path / "plain"))


def test_another_commit_time_changes_both_files(repository: Path, tmp_path: Path) -> None:
    first = build(repository, tmp_path / "first")
    commit(repository, when="2026-01-02T03:04:08Z")
    second = build(repository, tmp_path / "second")
    assert first.keys() == second.keys()
    assert all(first[name] != second[name] for name in first)


def test_only_committed_files_go_in_and_old_builds_are_removed(
    repository: Path, tmp_path: Path
) -> None:
    target = tmp_path / "dist"
    target.mkdir()
    (target / "sayso-0.0.1-py3-none-any.whl").write_bytes(b"old")
    (repository / "src" / "sayso" / "draft.py").write_text("SECRET = 1\n")
    version = repository / "src" / "sayso" / "version.py"
    version.write_text('__version__ = "9.9.9"\n')
    assert len(build(repository, target)) == 2
    assert f"sayso-{__version__}.dist-info/METADATA" in wheel_names(target)
    assert "sayso/draft.py" not in wheel_names(target)


def test_the_sdist_builds_the_same_wheel(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = build(repository, tmp_path / "dist")
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767323046")
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "again")]
    folder = tmp_path / f"sayso-{__version__}"
    subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, check=True)
    again = digests(tmp_path / "again")
    assert len(again) == 1
    assert again.items() <= built.items()


def test_a_build_that_fails_raises(repository: Path, tmp_path: Path) -> None:
    (repository / "README.md").unlink()
    commit(repository, when="2026-01-02T03:04:08Z")
    with pytest.raises(subprocess.CalledProcessError):
        build(repository, tmp_path / "dist")


def test_the_metadata_says_who_the_project_is(repository: Path, tmp_path: Path) -> None:
    build(repository, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"sayso-{__version__}.dist-info/METADATA").decode()
    metadata = HeaderParser().parsestr(text)
    labels = {line.split(",")[0] for line in metadata.get_all("Project-URL", [])}
    assert metadata["Version"] == __version__
    assert labels == {"Repository", "Documentation", "Changelog", "Issues", "Security"}
