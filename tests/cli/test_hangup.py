"""Started by nohup, sayso ignores a hangup, and the servers that it starts do not."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = """
import pathlib, signal
pathlib.Path({!r}).write_text(str(int(signal.getsignal(signal.SIGHUP))))
"""
SAYSO = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from sayso.cli import main
code = main(sys.argv[1:])
os.kill(os.getpid(), signal.SIGHUP)
sys.exit(code + 100)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_server_of_a_command_under_nohup_does_not_ignore_a_hangup(tmp_path: Path) -> None:
    told = tmp_path / "told"
    file = tmp_path / "server.py"
    file.write_text(SERVER.format(str(told)))
    words = [sys.executable, "-c", SAYSO, "inspect", "--", sys.executable, str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 104, done.stderr  # it ended by itself: the server is none
    assert told.read_text() == str(int(signal.SIG_DFL))
