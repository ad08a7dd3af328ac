"""A stranger: an empty folder, a new environment, the wheel, and what the pages say, in order.

Usage: `python -m tests.site.stranger [--json]`. Prints how long each step took and what each
installed package weighs. pip and uvx use the package index of this machine. Exits with 1 if a step
fails, or if a limit is exceeded.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import anyio
from tests.site.journey import delete_with_approval, free_port, login_link
from tests.site.pages import ROOT, Reader
from tools.installed_size import LIMIT_MB, sizes

MOST_SECONDS: Final = 15.0
"""The time from the download to the link of the demo."""
_MB: Final = 2**20
_INSTALL: Final = re.compile(r"`(pip install dist/\S+)`")
_DEMO: Final = re.compile(r"`(uvx --from dist/\S+ sayso demo)`")
_LINK: Final = re.compile(r"http://\S+/login\S+")


@dataclass
class Stay:
    """What a stranger did: seconds by step, and megabytes by package."""

    folder: Path
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    megabytes: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def programs(self) -> Path:
        return self.folder / "venv" / "bin"

    def reader(self, page: str) -> Reader:
        """Return somebody with this page, in the stranger's folder and environment."""
        return Reader(page, self.folder, free_port(), self.programs, home=self.folder)

    @contextmanager
    def step(self, words: str) -> Generator[None]:
        """Time one step."""
        start = time.perf_counter()
        yield
        self.seconds[words] = round(time.perf_counter() - start, 1)


def stay(folder: Path) -> Stay:
    """Do all that the README and the Start pages say. Raises if a step fails."""
    here = Stay(folder)
    readme = (ROOT / "README.md").read_text("utf-8")
    with here.step("make dist"):
        build = [sys.executable, "tools/build_dist.py"]
        subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with here.step("python -m venv venv"):
        venv.create(folder / "venv", with_pip=True)
    install = _first(_INSTALL, readme)
    with here.step(install):
        _pip(here, install)
    here.megabytes = weigh(here.programs.parent)
    with here.step("sayso demo: its link"):
        _until_link([str(here.programs / "sayso"), "demo", "--port", "0"], folder)
    _look(here, readme)
    _start_with_gateway(here)
    _start_with_server(here, install)
    _start_with_agent(here)
    demo = _first(_DEMO, readme)
    _, *rest = _absolute(demo)
    for step in (f"{demo}: first, with the download", f"{demo}: again"):
        with here.step(step):
            _until_link([_uvx(), *rest, "--port", "0"], folder)
    return here


def _uvx() -> str:
    return shutil.which("uvx") or str(ROOT / ".cache" / "uv-venv" / "bin" / "uvx")


def _look(here: Stay, readme: str) -> None:
    """Look at the demo's tools, as the README says for those who have no other server."""
    words = _first(re.compile(r"`(sayso inspect --\s+python -m sayso\.demo)`"), readme)
    with here.step("sayso inspect -- python -m sayso.demo"):
        _run(here, *words.split())


def _start_with_gateway(here: Stay) -> None:
    page = (ROOT / "docs/start/gateway.md").read_text("utf-8")
    more = re.findall(r"`(pip install [^`]+)`", page)
    for words in more:
        with here.step(words):
            _pip(here, words)
    reader = here.reader("start/gateway.md")
    reader.save("mcp.json")
    with reader.start("sayso gateway mcp.json") as gateway:
        with here.step("sayso gateway mcp.json: its link"):
            link = login_link(gateway)
        with here.step("a call of the demo client, allowed in the console"):
            anyio.run(delete_with_approval, reader, link)


def _start_with_server(here: Stay, install: str) -> None:
    """Write the server of the second page, which needs the SDK, look at it and test it."""
    with here.step(f"{install}[mcp]"):
        _pip(here, f"{install}[mcp]")
    reader = here.reader("start/server.md")
    (here.folder / "server.py").write_text(reader.text("python server"), "utf-8")
    with here.step("sayso inspect server.py"):
        reader.run("sayso inspect server.py")
    (here.folder / "test_server.py").write_text(reader.text("python"), "utf-8")
    with here.step("pip install pytest"):
        _pip(here, "pip install pytest")
    with here.step("pytest"):
        _run(here, "pytest")


def _start_with_agent(here: Stay) -> None:
    """Write the program of the third page, and say yes at the terminal."""
    reader = here.reader("start/agent.md")
    (here.folder / "agent.py").write_text(reader.text("python"), "utf-8")
    with here.step("python agent.py, allowed at the terminal"):
        said = reader.run("python agent.py", answers={"yes or no": "yes\n"})
    assert "Customer 12 is deleted" in said, said
    with here.step("sayso audit list and verify"):
        listed = reader.run("sayso audit list --store sqlite:sayso.db")
        assert "customer" in listed, listed
        reader.run("sayso audit verify --store sqlite:sayso.db")


def weigh(environment: Path) -> dict[str, float]:
    """Return the megabytes on disk of each installed package, the heaviest first."""
    heaviest = sorted(sizes(environment).items(), key=lambda item: -item[1])
    return {name: round(size / _MB, 1) for name, size in heaviest}


def _pip(here: Stay, words: str) -> None:
    _, *rest = _absolute(words)
    _run(here, "python", "-m", "pip", "--quiet", *rest)


def _absolute(words: str) -> list[str]:
    """Return the words of a command; `dist/` is that of the clone."""
    return [f"{ROOT}/{word}" if word.startswith("dist/") else word for word in words.split()]


def _until_link(words: list[str], folder: Path) -> None:
    """Start a program, wait for its link, end it, and check that it ends well."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb"}
    environment |= {
        name: os.environ[name] for name in os.environ if name.startswith(("UV_", "PIP_", "SSL_"))
    }
    with subprocess.Popen(
        words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        found = any(_LINK.search(line) for line in process.stdout)
        process.terminate()
    assert found, words
    assert process.returncode == 0, process.returncode


def _run(here: Stay, *words: str) -> None:
    """Run a program in the stranger's folder, with the environment activated."""
    path = f"{here.programs}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"HOME": str(here.folder), "PATH": path}
    command = [str(here.programs / words[0]), *words[1:]]
    subprocess.run(command, cwd=here.folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def _first(expression: re.Pattern[str], text: str) -> str:
    found = expression.search(text)
    assert found is not None, expression.pattern
    return found[1]


def problems(here: Stay) -> list[str]:
    """Return the limits that were exceeded."""
    found: list[str] = []
    total = sum(here.megabytes.values())
    if total > LIMIT_MB:
        found.append(f"the installation takes {total:.1f} MB, not {LIMIT_MB}")
    found += [
        f"{words} took {seconds} s, not {MOST_SECONDS:.0f}"
        for words, seconds in here.seconds.items()
        if words.endswith((": again", ": its link")) and seconds > MOST_SECONDS
    ]
    return found


def main() -> int:
    """Print what a stranger saw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--json", action="store_true")
    is_json = parser.parse_args().json
    say: Callable[[str], object] = sys.stdout.write
    with tempfile.TemporaryDirectory() as folder:
        here = stay(Path(folder))
    wrong = problems(here)
    if is_json:
        document = asdict(here) | {"folder": None, "problems": wrong}
        say(f"{json.dumps(document)}\n")
        return int(bool(wrong))
    for words, seconds in here.seconds.items():
        say(f"{seconds:7.1f} s   {words}\n")
    for name, megabytes in [*here.megabytes.items()][:10]:
        say(f"{megabytes:7.1f} MB  {name}\n")
    say(f"{sum(here.megabytes.values()):7.1f} MB  in {len(here.megabytes)} packages\n")
    say("".join(f"{line}\n" for line in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
