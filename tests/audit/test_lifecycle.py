"""Which process a writer lives in, and whether it is still there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sayso.audit import lifecycle
from sayso.audit.lifecycle import Owner, is_dead
from sayso.store import WriterRow

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
@pytest.mark.process
def test_a_process_is_seen_to_live_and_to_end() -> None:
    here = Owner.this()
    assert Owner.read(str(here)) == here
    assert not is_dead(WriterRow("w", str(here), is_expired=True), here)
    reused = Owner(here.machine, os.getpid(), "1")
    assert is_dead(WriterRow("w", str(reused), is_expired=False), here)
    child = subprocess.run(
        [sys.executable, "-c", "from sayso.audit.lifecycle import Owner; print(Owner.this())"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert is_dead(WriterRow("w", child.stdout.strip(), is_expired=False), here)


@linux
@pytest.mark.process
def test_a_process_that_was_killed_is_gone_before_anyone_has_asked_how_it_ended() -> None:
    here = Owner.this()
    program = "from sayso.audit.lifecycle import Owner; print(Owner.this(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        row = WriterRow("w", child.stdout.readline().strip(), is_expired=False)
        assert not is_dead(row, here)
        child.kill()
        # Waits for its end without asking, as a parent would that never does.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_dead(row, here)


@pytest.mark.parametrize("is_expired", [True, False])
def test_a_process_on_another_machine_is_told_by_its_lease(*, is_expired: bool) -> None:
    here = Owner.this()
    assert is_dead(WriterRow("w", "elsewhere:1:2", is_expired), here) is is_expired
    assert is_dead(WriterRow("w", "nonsense", is_expired), here) is is_expired


def test_without_proc_the_lease_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lifecycle, "PROC", tmp_path)
    here = Owner.this()
    assert (here.machine, here.began) == ("", "")
    assert is_dead(WriterRow("w", str(here), is_expired=True), here)
    (tmp_path / str(os.getpid())).mkdir()
    (tmp_path / str(os.getpid()) / "stat").write_text("1 (x) " + "7 " * 30)
    assert Owner.this().machine == ""
