"""The attempts in a trace that count as changes of what a person keeps, and those that do not."""

from pathlib import Path

import pytest

from sayso.connect import CommandTarget
from sayso.connect.kinds import Contract
from sayso.contract.attempts import Attempts, is_kept
from sayso.contract.wrap import trace_of, wrap
from sayso.sandbox.programs import Programs

ENV = {"HOME": "/home/bo", "XDG_STATE_HOME": "/state"}


@pytest.mark.parametrize(
    ("path", "is_there", "expected"),
    [
        ("/home/bo/notes.txt", False, True),
        ("/home/bo/.ssh/authorized_keys", False, True),
        ("/srv/data/a", True, True),
        ("/tmp/new", False, False),
        ("/tmp/old", True, True),
        ("/tmp/folder/new", False, True),
        ("/usr/lib/x", False, False),
        ("/etc/passwd", True, False),
        ("/dev/null", True, False),
        ("/home/bo/.cache/x/y", False, False),
        ("/state/x", False, False),
        ("/home/bo/code/__pycache__/a.cpython-311.pyc", False, False),
        ("/home/bo/code/node_modules/.cache/x", False, False),
        ("/home/bo/repo/.git/index.lock", False, False),
        ("/home/bo/data.db-wal", False, False),
        ("/home/bo/.cached/x", False, True),
    ],
)
def test_a_person_keeps_what_no_program_leaves_by_itself(
    path: str, *, is_there: bool, expected: bool
) -> None:
    assert is_kept(path, env=ENV, is_there=is_there) is expected


def attempts(folder: Path, *lines: str, is_open: bool = False) -> list[tuple[str, bool]]:
    """Return the attempts in a trace of these calls, and whether each is a breach."""
    trace_of(folder).write_text("".join(f"999999999 1.0 {line}\n" for line in lines))
    contract = Contract((str(folder / "own"),))
    target = CommandTarget("c", "x", cwd=str(folder), contract=contract)
    read = Attempts(trace_of(folder), target, is_open=is_open).read()
    return [(str(one), one.is_breach) for one in read]


def failed(call: str, error: str = "EROFS") -> str:
    return f"{call} = -1 {error} (for a reason)"


def test_a_relative_path_is_told_from_where_the_server_works(tmp_path: Path) -> None:
    assert attempts(tmp_path, failed('unlink("notes")')) == [(f"delete {tmp_path}/notes", True)]


def test_what_is_opened_for_both_is_not_held_against_whoever_only_reads(tmp_path: Path) -> None:
    there = tmp_path / "there.db"
    there.touch()
    call = "openat(AT_FDCWD</>, {}, {}|O_CREAT|O_CLOEXEC, 0644)"
    both = failed(call.format(f'"{there}"', "O_RDWR"))
    made = failed(call.format(f'"{tmp_path}/new.db"', "O_RDWR"))
    added = failed(call.format(f'"{there}"', "O_WRONLY|O_APPEND"))
    assert attempts(tmp_path, both) == [(f"write {there}", False)]
    assert attempts(tmp_path, made) == [(f"create {tmp_path}/new.db", True)]
    assert attempts(tmp_path, added) == [(f"write {there}", True)]


def test_own_state_that_is_missing_is_not_held_against_its_server(tmp_path: Path) -> None:
    told = attempts(tmp_path, failed(f'mkdir("{tmp_path}/own", 0777)'))
    assert told == [(f"create {tmp_path}/own", False)]


def test_a_name_that_looks_like_an_answer_hides_nothing(tmp_path: Path) -> None:
    path = f"{tmp_path}/x = -1 ENOENT"
    assert attempts(tmp_path, failed(f'unlink("{path}")')) == [(f"delete {path}", True)]
    assert attempts(tmp_path, failed(f'unlink("{path}")', "ENOENT")) == []


@pytest.mark.parametrize(
    ("address", "is_open", "is_breach"),
    [("192.0.2.1", False, True), ("192.0.2.1", True, False), ("127.0.0.1", False, False)],
)
def test_beyond_loopback_is_outside(
    tmp_path: Path, address: str, *, is_open: bool, is_breach: bool
) -> None:
    to = f'{{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("{address}")}}'
    line = failed(f"connect(3<TCP:[1]>, {to}, 16)", "ENETUNREACH")
    told = attempts(tmp_path, line, is_open=is_open)
    assert told == [(f"connect {address}:80", is_breach)]


def test_a_read_only_process_gets_its_own_places_and_words(tmp_path: Path) -> None:
    target = CommandTarget("c", "server", ("a",), {"TMPDIR": "/x", "KEY": "1"})
    target = CommandTarget("c", "server", ("a",), target.env, contract=Contract(("/own",)))
    closed = wrap(target, tmp_path, Programs(bwrap="bwrap", strace="strace"), is_open=False)
    opened = wrap(target, tmp_path, Programs(bwrap="bwrap", strace="strace"), is_open=True)
    words = (closed.command, *closed.args)
    assert words[0] == "strace"
    assert words[-2:] == ("server", "a")
    assert " --bind-try /own /own " in " ".join(words)
    assert ("--unshare-net" in words, "--unshare-net" in opened.args) == (True, False)
    assert (closed.env["TMPDIR"], closed.env["KEY"]) == (str(tmp_path / "tmp"), "1")
