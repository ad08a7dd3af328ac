import json
from pathlib import Path

from sayso.sandbox.package import (
    digest_files,
    npm_package,
    package_of_files,
    pypi_package,
)


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_a_digest_is_the_same_in_any_place_and_order(tmp_path: Path) -> None:
    one = fill(tmp_path / "one", {"b.py": "2", "a/c.py": "1", "a/__pycache__/c.pyc": "x"})
    two = fill(tmp_path / "two", {"a/c.py": "1", "b.py": "2", "x.dist-info/RECORD": "place"})

    assert digest_files([one]) == digest_files([two])


def test_a_digest_tells_of_each_change(tmp_path: Path) -> None:
    folder = fill(tmp_path / "one", {"a.py": "1"})
    seen = {digest_files([folder])}
    (folder / "link").symlink_to("a.py")
    seen.add(digest_files([folder]))
    (folder / "link").unlink()
    (folder / "link").symlink_to("b.py")
    seen.add(digest_files([folder]))
    (folder / "a.py").rename(folder / "b.py")
    seen.add(digest_files([folder]))

    assert len(seen) == 4


def test_a_package_has_its_name_and_version(tmp_path: Path) -> None:
    modules = fill(tmp_path / "m", {"@a/b/package.json": json.dumps({"version": "1.2.3"})})
    packages = fill(tmp_path / "p", {"my_server-4.5.dist-info/METADATA": "", "my_server.py": ""})
    script = fill(tmp_path / "s", {"server.py": ""}) / "server.py"

    assert (npm_package(modules, "@a/b").name, npm_package(modules, "@a/b").version) == (
        "@a/b",
        "1.2.3",
    )
    assert pypi_package(packages, "My.Server").version == "4.5"
    assert package_of_files([script]).to_dict() == {
        "kind": "files",
        "name": "server.py",
        "version": "",
        "digest": {"sha256": digest_files([script])},
    }
