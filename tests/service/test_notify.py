"""The gateway tells systemd when it serves, and nobody else can."""

import os
import socket
import struct
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cli.running import started
from tests.connect.servers.web import serve_web

from sayso.service import notify_ready


@pytest.fixture
def systemd(tmp_path: Path) -> Generator[socket.socket]:
    """The socket on which systemd listens, which says who sent a message."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "notify"))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        listener.settimeout(60)
        yield listener


def message(listener: socket.socket) -> tuple[bytes, int]:
    """The next message, and the process that sent it."""
    data, ((_, _, sender),), _, _ = listener.recvmsg(100, socket.CMSG_SPACE(12))
    return data, struct.unpack("3i", sender)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="systemd runs only on Linux")
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.process
def test_the_main_process_says_that_the_gateway_serves(
    workers: str, systemd: socket.socket, tmp_path: Path
) -> None:
    options = ("--port", "0", "--workers", workers, "--json")
    store = f"sqlite:{tmp_path / 'sayso.db'}"
    address = systemd.getsockname()
    with (
        serve_web() as site,
        started("gateway", site.url, *options, "--store", store, NOTIFY_SOCKET=address) as gateway,
    ):
        # As the unit says NotifyAccess=main, a message of another process would be ignored.
        assert message(systemd) == (b"READY=1", gateway.process.pid)
        gateway.end()


def test_the_variable_goes_so_that_no_server_can_use_it(
    systemd: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", systemd.getsockname())
    notify_ready()
    assert systemd.recv(100) == b"READY=1"
    assert "NOTIFY_SOCKET" not in os.environ


def test_an_abstract_socket_works_too(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"sayso-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(f"\0{name}")
        listener.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
        notify_ready()
        assert listener.recv(100) == b"READY=1"


def test_without_systemd_nothing_happens_and_a_dead_socket_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_ready()
    assert caplog.text == ""
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    notify_ready()
    assert "cannot tell systemd" in caplog.text
