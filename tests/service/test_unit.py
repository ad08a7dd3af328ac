"""The unit file: systemd itself reads back what was meant, and what it cannot take is refused."""

import os
import re
import shutil
import string
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sayso.cli import drain, workers
from sayso.errors import UsageError
from sayso.service import Unit
from sayso.service.unit import bare_path, is_edited, is_ours, quote, quote_command

SYSTEMD = Path("/usr/lib/systemd/systemd")
NOBODY = 65534
NASTY = [
    *("a b", " ", "", "%", "%%h", "%n", "100%", "$HOME", "${HOME}", "$$", "$", "a$b"),
    *("\\", "\\n", "\\x20", "C:\\dir\\", "'", '"', "it's", '"a" "b"', ";", "\\;", "--", "-x"),
    *("@", "-", ":", "+", "!", "|", "#", "# no", "=", "[Service]", "~", "*", "`id`", "é", "日本"),
]


def unit(*words: str, folder: str = "/srv", drain: float = 20.0) -> Unit:
    environment = {"PATH": "/x y:/50%:/$HOME\\\"'"}
    words = ("/bin/echo", *words)
    return Unit("sayso", words, Path(folder), environment, Path("/e %/s.env"), drain)


def user(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program of systemd for a user with only our units; skipping is not passing."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"NOT CHECKED: {command[0]} is not installed")
    (folder / "run").mkdir()
    (folder / "run").chmod(0o777)
    paths = {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
    environment = {"PATH": os.environ["PATH"], "SYSTEMD_UNIT_PATH": f"{folder}:", **paths}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def read_back(command: str) -> list[str]:
    """The words of a command that systemd shows, as the program will get them.

    Variables are replaced only when the command starts, so $$ is still there.
    """
    words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+', command)
    plain = [re.sub(r"\\(.)", r"\1", one[1:-1]) if one[0] == '"' else one for one in words]
    return [one.replace("$$", "$") for one in plain]


@pytest.fixture
def folder(tmp_path: Path) -> Generator[Path]:
    """A folder that also another user may read: systemd tests nothing as root."""
    folder = Path(f"/tmp/sayso-unit-{os.getpid()}-{tmp_path.name}")
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.process
def test_systemd_reads_back_each_word_that_was_meant(folder: Path) -> None:
    (folder / "sayso.service").write_text(unit(*NASTY, folder="/a b/50%/$x\\'\"y").text())
    words: tuple[str, ...] = (str(SYSTEMD), "--user", "--test", "--unit=sayso.service")
    if os.getuid() == 0:
        ids = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        words = ("setpriv", *ids, *words)
        if not SYSTEMD.exists():
            pytest.skip(f"NOT CHECKED: {SYSTEMD} is not installed")
    done = user(folder, *words)
    shown = done.stdout + done.stderr
    if "Unit sayso.service:" not in shown:
        pytest.skip(f"NOT CHECKED: systemd --user --test does not run here: {shown[-300:]}")
    (command,) = re.findall(r"Command Line: (/bin/echo .*)", shown)
    assert read_back(command) == ["/bin/echo", *NASTY]
    assert "Environment: PATH=/x y:/50%:/$HOME\\\"'\n" in shown
    assert "WorkingDirectory: /a b/50%/$x\\'\"y\n" in shown
    assert "EnvironmentFile: -/e %/s.env\n" in shown


@pytest.mark.process
def test_systemd_analyze_finds_no_fault_in_a_unit(folder: Path) -> None:
    path = folder / "sayso.service"
    path.write_text(unit(*NASTY, folder=str(folder)).text())
    done = user(folder, "systemd-analyze", "verify", "--user", "--man=no", str(path))
    # Of this unit alone: the machine's own units may have faults.
    faults = [line for line in done.stderr.splitlines() if "sayso.service" in line]
    assert faults == [], done.stderr


@pytest.mark.process
def test_systemd_analyze_would_find_a_fault(folder: Path) -> None:
    path = folder / "sayso.service"
    path.write_text(unit().text().replace("KillMode=mixed", "KillMood=mixed"))
    done = user(folder, "systemd-analyze", "verify", "--user", "--man=no", str(path))
    assert "KillMood" in done.stderr


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029")))
def test_a_quoted_word_stays_one_line_and_has_no_specifier(word: str) -> None:
    quoted = quote(word)
    inner = quoted[1:-1].replace("\\\\", "").replace('\\"', "").replace("%%", "")
    assert quoted.splitlines() == [quoted]
    assert not set('"%\\') & set(inner)
    assert quoted[1:-1].replace("%%", "%").replace('\\"', '"').replace("\\\\", "\\") == word


@pytest.mark.parametrize("character", ["\n", "\r", "\0", "\t", "\x1b", "\x7f", "\x85", "\u2028"])
def test_a_line_break_or_control_character_is_refused(character: str) -> None:
    word = f"a{character}ExecStartPre=/bin/evil"
    for wrong in (
        lambda: quote(word),
        lambda: quote_command(("/bin/echo", word)),
        lambda: bare_path(Path("/x") / word),
        lambda: unit(word).text(),
        lambda: unit(folder=f"/{word}").text(),
    ):
        with pytest.raises(UsageError, match="line break or control character"):
            wrong()


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UsageError, match="control character"):
        quote(os.fsdecode(b"\xff"))


@pytest.mark.parametrize("path", ["/a ", "/a\\"])
def test_a_path_that_systemd_would_cut_or_join_to_the_next_line_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="ends in a space or a backslash"):
        bare_path(Path(path))


def test_a_program_with_a_dollar_in_its_path_is_refused() -> None:
    with pytest.raises(UsageError, match=r"\$ in its path"):
        quote_command(("/srv/$x/sayso", "gateway"))


def settings(text: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))


@pytest.mark.parametrize("seconds", [0.5, 20.0, 600.0])
def test_systemd_waits_longer_for_the_end_than_the_gateway_takes(seconds: float) -> None:
    grace = workers._GRACE_SECONDS  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    longest = drain.PAUSE_SECONDS + seconds + 2 * drain.TELL_SECONDS + grace
    assert float(settings(unit(drain=seconds).text())["TimeoutStopSec"]) > longest + 10


def test_a_unit_restarts_only_what_trying_again_can_mend_and_stops_only_the_gateway() -> None:
    found = settings(unit().text())
    assert found["Restart"] == "on-failure"
    assert found["RestartPreventExitStatus"] == "2 3"
    assert found["KillMode"] == "mixed"
    assert found["StandardOutput"] == "null"  # it has the login link


def test_a_file_that_was_edited_is_told_from_one_as_written() -> None:
    data = unit(string.ascii_letters).text().encode()
    assert (is_ours(data), is_edited(data)) == (True, False)
    edited = data.replace(b"RestartSec=10", b"RestartSec=1")
    assert (is_ours(edited), is_edited(edited)) == (True, True)
    assert (is_ours(b"[Service]\n"), is_edited(b"[Service]\n")) == (False, False)
