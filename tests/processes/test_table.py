"""Processes of this machine as the kernel and `ps` show them."""

import os
import pty
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sayso.processes import ancestors, open_table, peer_of
from sayso.processes.local_clients import clients_of
from sayso.processes.table import ProcTable, PsTable, read_ps

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def test_ancestors_lead_from_this_process_to_its_parent() -> None:
    line = ancestors(open_table(), os.getpid())

    assert [one.pid for one in line[:2]] == [os.getpid(), os.getppid()]
    assert {one.uid for one in line[:1]} == {os.getuid()}
    assert line[0].started >= line[1].started


@pytest.mark.process
def test_ps_shows_the_same_line() -> None:
    line = ancestors(PsTable(), os.getpid())

    assert [one.pid for one in line[:2]] == [os.getpid(), os.getppid()]
    assert line[0].uid == os.getuid()
    assert PsTable().look(0) is None
    assert PsTable().terminal_holders("pts/0") is None


def test_what_ps_prints_on_macos_is_read() -> None:
    text = (
        "  501  1 0 ??       Mon Nov  2 09:14:03 2026 /sbin/launchd\n"
        " 1234 501 501 ttys003  Mon Nov 23 10:00:00 2026 /Applications/A B.app/Contents/x\n"
        "nonsense\n 1 2 3 ?? Mon Foo 23 10:00:00 2026 x\n"
    )

    rows = read_ps(text)

    assert sorted(rows) == [501, 1234]
    assert (rows[1234].terminal, rows[501].terminal) == ("ttys003", None)
    assert rows[1234].name == "/Applications/A B.app/Contents/x"
    assert rows[501].started < rows[1234].started


@linux
def test_the_process_that_drives_a_terminal_is_found() -> None:
    ours, theirs = pty.openpty()
    try:
        name = os.ttyname(theirs).removeprefix("/dev/")
        assert os.getpid() in (ProcTable().terminal_holders(name) or [])
    finally:
        os.close(ours)
        os.close(theirs)
    assert ProcTable().terminal_holders("pts/99999") == []
    assert ProcTable().terminal_holders("tty/4:1") is None


@linux
def test_the_process_at_the_other_end_of_a_connection_is_found() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        port, own = listener.getsockname()[1], client.getsockname()[1]
        assert clients_of(port, {own}) == {os.getpid()}
        assert clients_of(port, {own + 1}) == set()
        assert clients_of(own, {own}) == set()


@pytest.mark.process
def test_a_peer_is_known_and_known_to_have_ended() -> None:
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        path = str(Path(folder) / "s")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()
            code = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
            words = [sys.executable, "-c", f"{code}sys.stdin.read()", path]
            with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
                connection, _ = listener.accept()
                peer = peer_of(connection)
                assert peer is not None
                assert (peer.pid, peer.uid, peer.is_gone) == (process.pid, os.getuid(), False)
                process.communicate()
            if peer.handle >= 0:
                assert peer.is_gone
            peer.close()
            assert not peer.is_gone
            connection.close()


def test_what_is_no_unix_socket_has_no_peer() -> None:
    with socket.socket() as other:
        other.close()
        assert peer_of(other) is None
