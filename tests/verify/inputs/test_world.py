import hashlib
import http.client
import json
import mailbox
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sayso.verify.inputs.roles import PATHS, Meaning, Role
from sayso.verify.inputs.world import Site, World, make_world, serve_world
from sayso.verify.inputs.world.values import BRANCHES, COMMITS, CUSTOMERS, TAGS
from sayso.verify.inputs.world.web import Request
from sayso.verify.inputs.world.world import FILES

ROOT = Path(__file__).parents[3]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("one") / "world")


def state_of(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    }


def test_the_world_is_the_same_each_time_to_the_byte_and_the_second(
    world: World, tmp_path: Path
) -> None:
    other = make_world(tmp_path / "elsewhere")

    assert state_of(other.folder) == state_of(world.folder)


@pytest.mark.parametrize("role", sorted(PATHS))
def test_paths_that_exist_lie_in_the_world_and_those_that_do_not_do_not(
    world: World, role: Role
) -> None:
    for kind, values in world.values(role).items():
        for value in values:
            path = world.folder / os.path.relpath(value, world.inside)
            if kind != "outside":
                assert path.exists() is (kind not in ("missing", "new")), value
            if kind == "directory":
                assert path.is_dir()


def test_names_that_a_careless_program_trips_over_are_there(world: World) -> None:
    names = {path.name for path in world.folder.rglob("*")}

    assert any(" " in name for name in names)
    assert any(not name.isascii() for name in names)


@needs_git
@pytest.mark.process
def test_git_wants_to_write_the_index_anew_and_sees_its_changes(
    world: World, tmp_path: Path
) -> None:
    copy = tmp_path / "repo"
    shutil.copytree(world.folder / "repo", copy)
    index = (copy / ".git" / "index").read_bytes()

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", copy, *words], capture_output=True, check=True, text=True
        )
        return done.stdout

    assert git("status", "--porcelain") == " M README.md\nA  staged.txt\n?? untracked.txt\n"
    assert (copy / ".git" / "index").read_bytes() != index
    assert set(git("branch", "--format=%(refname:short)").split()) == set(BRANCHES)
    assert tuple(git("rev-list", "HEAD").split()) == COMMITS
    assert git("tag").split() == list(TAGS)


@pytest.mark.parametrize(("name", "mode"), [("data.db", "delete"), ("wal.db", "wal")])
def test_the_databases_hold_rows(world: World, tmp_path: Path, name: str, mode: str) -> None:
    copy = shutil.copy(world.folder / name, tmp_path)
    with closing(sqlite3.connect(copy)) as connection:
        tables = world.values(Role.TABLE)["existing"]
        counts = [
            connection.execute(f"SELECT count(*) FROM {one}").fetchone()[0]  # noqa: S608 - ours
            for one in tables
        ]
        kept = connection.execute("PRAGMA journal_mode").fetchone()[0]
        for statements in world.values(Role.SQL).values():
            connection.execute(statements[0])

    assert counts == [3, 4, 3]
    assert kept == mode


@pytest.mark.parametrize("name", ["data.xlsx", "letter.docx"])
def test_office_files_are_archives_of_xml_whose_parts_are_all_there(
    world: World, name: str
) -> None:
    with zipfile.ZipFile(world.folder / name) as archive:
        roots = {part: ET.fromstring(archive.read(part)) for part in archive.namelist()}  # noqa: S314 - our own

    listed = [
        one.attrib["PartName"] for one in roots["[Content_Types].xml"] if "PartName" in one.attrib
    ]
    assert listed
    assert all(part.removeprefix("/") in roots for part in listed)


@pytest.mark.skipif(
    "SAYSO_OFFICE_PYTHON" not in os.environ,
    reason="SAYSO_OFFICE_PYTHON names no Python with openpyxl and python-docx",
)
@pytest.mark.process
def test_office_files_are_read_and_written_by_the_libraries_for_them(
    world: World, tmp_path: Path
) -> None:
    shutil.copy(world.folder / "data.xlsx", tmp_path)
    shutil.copy(world.folder / "letter.docx", tmp_path)
    program = (
        "import docx, openpyxl\n"
        "book = openpyxl.load_workbook('data.xlsx')\n"
        "print(book.sheetnames, book['Customers']['B4'].value, book['Orders']['D2'].value)\n"
        "book.save('data.xlsx')\n"
        "letter = docx.Document('letter.docx')\n"
        "print(letter.paragraphs[0].text, letter.tables[0].cell(0, 1).text)\n"
        "letter.add_paragraph('more')\n"
        "letter.save('letter.docx')\n"
    )
    python = os.environ["SAYSO_OFFICE_PYTHON"]
    done = subprocess.run(
        [python, "-c", program], cwd=tmp_path, capture_output=True, check=True, text=True
    )

    assert done.stdout == "['Customers', 'Orders'] Zoë 12.5\nDear Ada, 12.5\n"


def test_the_mailboxes_hold_the_same_messages(world: World, tmp_path: Path) -> None:
    copy = tmp_path / "world"
    shutil.copytree(world.folder, copy)
    box, folder = mailbox.mbox(copy / "mail.mbox"), mailbox.Maildir(copy / "maildir")
    with closing(box), closing(folder):
        subjects = sorted(str(one["Subject"]) for one in box)

        assert len(subjects) == 3
        assert subjects == sorted(str(one["Subject"]) for one in folder)


def test_the_pdf_says_where_each_of_its_objects_begins(world: World) -> None:
    data = (world.folder / "paper.pdf").read_bytes()
    start = int(data.rsplit(b"startxref", 1)[1].split()[0])

    assert data[start:].startswith(b"xref")
    for number, line in enumerate(data[start:].splitlines()[3:8], start=1):
        assert data[int(line[:10]) :].startswith(b"%d 0 obj" % number)


def test_ids_of_what_the_world_knows_exist_and_others_are_guessed(world: World) -> None:
    assert world.values(Meaning(Role.ID, "customer"))["existing"] == (1, 2, 3)
    assert "existing" not in world.values(Meaning(Role.ID, "spaceship"))


@needs_git
@pytest.mark.process
def test_the_script_makes_the_files_that_are_there(tmp_path: Path) -> None:
    copy = tmp_path / "files"
    shutil.copytree(FILES, copy)
    subprocess.run([sys.executable, ROOT / "tools/write_world.py", copy], check=True)

    # Other versions of SQLite, zlib and git write other bytes for the same content.
    assert {path for path in state_of(copy) if "/objects" not in path} == {
        path for path in state_of(FILES) if "/objects" not in path
    }
    for name in ("paper.pdf", "repo/git/refs/heads/main"):
        assert (copy / name).read_bytes() == (FILES / name).read_bytes()


def test_the_rows_that_are_known_are_those_of_the_files(world: World) -> None:
    rows = [",".join(map(str, row)) for row in CUSTOMERS]
    assert (world.folder / "data.csv").read_text().splitlines()[1:] == rows


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_world() as served:
        yield served


def ask(site: Site, method: str, path: str, body: bytes | None = None) -> tuple[int, str, str]:
    with closing(http.client.HTTPConnection(site.host, site.port, timeout=5)) as connection:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Location", ""), answer.read().decode()


def test_the_web_answers_and_keeps_a_record_of_who_asked_for_what(site: Site) -> None:
    assert ask(site, "GET", "/")[0] == 200
    assert ask(site, "GET", "/old")[:2] == (301, "/about.html")
    assert json.loads(ask(site, "GET", "/api/customers/1")[2])["name"] == "Ada"
    assert ask(site, "HEAD", "/robots.txt") == (200, "", "")
    assert ask(site, "GET", "/nothing")[0] == 404
    assert ask(site, "POST", "/submit", b"name=Ada")[0] == 201
    assert ask(site, "DELETE", "/api/customers/1")[0] == 200
    assert site.requests[-2:] == [Request("POST", "/submit"), Request("DELETE", "/api/customers/1")]


def test_urls_of_the_world_lead_to_the_web_that_is_served(world: World, site: Site) -> None:
    values = world.with_site(site).values(Role.URL)

    assert all(one.startswith(site.url) for kind in values.values() for one in kind)
    assert ask(site, "GET", values["existing"][0].removeprefix(site.url))[0] == 200


def test_the_web_is_gone_when_its_block_ends() -> None:
    with serve_world() as served:
        pass

    with pytest.raises(OSError, match=r"."):
        ask(served, "GET", "/")
