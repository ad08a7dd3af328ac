"""A copy of a process that has imported much does as a new Python would."""

import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from tests.warm import Warm, warm

TELLING = """
import json, os, sys
print(json.dumps([sys.argv[1:], sys.path[0], os.getcwd(), os.environ.get("NAME"), __name__]))
print(sys.stdin.read(), file=sys.stderr)
print("json.tool" in sys.modules)
"""


@pytest.fixture(scope="module")
def python() -> Generator[Warm]:
    with warm("json.tool") as ready:
        yield ready


def run(words: Sequence[str], folder: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words,
        cwd=folder,
        env=env,
        input="said",
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_words_folder_environment_and_streams_are_those_of_whoever_asks(
    python: Warm, tmp_path: Path
) -> None:
    (tmp_path / "telling.py").write_text(TELLING)
    for words in (["-m", "telling", "a"], [str(tmp_path / "telling.py"), "a"]):
        cold = run([sys.executable, *words], tmp_path, NAME="amy")
        done = run(python.words(*words), tmp_path, NAME="amy")
        told, has = done.stdout.splitlines()
        assert (json.loads(told), has) == (json.loads(cold.stdout.splitlines()[0]), "True")
        assert (done.returncode, done.stderr) == (0, "said\n")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit('no')", 1),
        ("raise ValueError", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 1),
        ("import warnings; warnings.warn('old')", 1),
    ],
)
def test_it_ends_as_its_copy_does(python: Warm, tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "ending.py").write_text(text)
    done = run(python.words("-W", "error", str(tmp_path / "ending.py")), tmp_path)
    assert done.returncode == code
