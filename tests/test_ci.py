"""What builds run: the steps of action.yml as the shell commands they are, and the hook.

Neither may fetch anything here, so both install sayso from a copy of this checkout without its
dependencies, which they find in the environment of the tests. All else is as it is for a user.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
INSTALL, LINT = ACTION["runs"]["steps"]
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
"""What a runner starts for `shell: bash`."""

SOUND = {
    "name": "list_orders",
    "title": "List all orders",
    "description": "Gives the open orders of one customer, newest first.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
WRONG = {**SOUND, "name": "list_bills", "annotations": {"readOnlyHint": "true"}}
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_NO_DEPS": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this one the other way round
    "PIP_IGNORE_INSTALLED": "1",
    "PYTHONPATH": sysconfig.get_path("purelib"),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What of this checkout is installed, as a repository of its own."""
    folder = tmp_path_factory.mktemp("sayso")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (".pre-commit-hooks.yaml", "LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    commit(folder)
    return folder


@dataclass(frozen=True)
class Runner:
    """As much of a build's machine as the steps ask for."""

    source: Path
    temporary: Path
    workspace: Path

    def run(self, step: Mapping[str, Any], **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run one step as a runner does: its own environment, with the inputs in it."""
        env = {key: self._filled(value, inputs) for key, value in step["env"].items()}
        return subprocess.run(
            [*BASH, step["run"]],
            cwd=self.workspace,
            env={
                **environment(self.workspace),
                "GITHUB_ACTION_PATH": str(self.source),
                "RUNNER_TEMP": str(self.temporary),
                **env,
            },
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def _filled(self, value: str, inputs: Mapping[str, str]) -> str:
        match = re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", value)
        assert match, value
        return inputs.get(match[1].replace("-", "_"), ACTION["inputs"][match[1]].get("default", ""))


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner after the first step."""
    runner = Runner(source, tmp_path_factory.mktemp("temp"), tmp_path_factory.mktemp("work"))
    done = runner.run(INSTALL)
    assert done.returncode == 0, done.stderr
    return runner


@pytest.fixture
def runner(installed: Runner, tmp_path: Path) -> Runner:
    """The same with a workspace of its own."""
    return Runner(installed.source, installed.temporary, tmp_path)


def environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", **OFFLINE}


def commit(folder: Path) -> None:
    for words in (
        ["init", "-q", "-b", "main"],
        ["config", "user.email", "amy@example.com"],
        ["config", "user.name", "Amy"],
        ["add", "."],
        ["commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


def save(folder: Path, *tools: object) -> None:
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")


def test_no_step_puts_anything_into_its_text() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = " ".join(value for step in (INSTALL, LINT) for value in step["env"].values())
    assert sorted(re.findall(r"inputs\.([a-z-]+)", used)) == sorted(ACTION["inputs"])
    for step in (INSTALL, LINT):
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        assert set(step) == {"name", "shell", "env", "run"}


def test_the_action_installs_what_it_is_part_of(installed: Runner) -> None:
    sayso = installed.temporary / "sayso-lint" / "bin" / "sayso"
    done = subprocess.run(
        [sayso, "--version"],
        env=environment(installed.workspace),
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.startswith("sayso ")
    assert list((installed.temporary / "sayso-lint").glob("lib/*/site-packages/sayso/lint"))


def test_the_action_passes_what_is_sound_and_annotates_what_is_not(runner: Runner) -> None:
    save(runner.workspace, SOUND)
    done = runner.run(LINT, target="tools.json")
    assert (done.returncode, done.stderr) == (0, "")
    save(runner.workspace, SOUND, WRONG)
    done = runner.run(LINT, target="tools.json")
    assert done.returncode == 1
    assert "::error file=tools.json,line=1,title=SS103 hint-not-a-boolean::" in done.stdout


def test_the_action_takes_profile_baseline_and_how_loud(runner: Runner) -> None:
    save(runner.workspace, SOUND)
    assert runner.run(LINT, target="tools.json", profile="openai").returncode == 1
    assert runner.run(LINT, target="tools.json", profile="strict", fail_on="note").returncode == 1
    sayso = runner.temporary / "sayso-lint" / "bin" / "sayso"
    known = [sayso, "lint", "tools.json", "--profile=openai", "--baseline=known.json"]
    env = environment(runner.workspace)
    subprocess.run(
        [*known, "--write-baseline"], cwd=runner.workspace, env=env, check=True, capture_output=True
    )
    done = runner.run(LINT, target="tools.json", profile="openai", baseline="known.json")
    assert done.returncode == 0


def test_the_action_writes_sarif_beside_what_it_tells(runner: Runner) -> None:
    save(runner.workspace, WRONG)
    done = runner.run(LINT, target="tools.json", sarif_file="out.sarif", format="text")
    assert done.returncode == 1
    assert "SS103 [hint-not-a-boolean] list_bills" in done.stdout
    (run,) = json.loads((runner.workspace / "out.sarif").read_text())["runs"]
    assert "SS103" in [one["ruleId"] for one in run["results"]]
    save(runner.workspace, SOUND)
    assert runner.run(LINT, target="tools.json", sarif_file="out.sarif").returncode == 0


def test_the_action_tells_apart_what_it_cannot_read(runner: Runner) -> None:
    assert runner.run(LINT, target="gone.json").returncode == 2
    assert runner.run(LINT, target="gone.json", sarif_file="out.sarif").returncode == 2
    done = runner.run(LINT, target="--help")
    assert (done.returncode, done.stdout) == (2, "")


def test_version_and_packages_reach_pip_and_nothing_that_a_workflow_says_is_run(
    runner: Runner,
) -> None:
    save(runner.workspace, SOUND)
    evil = "x\" '$(touch ran)' `touch ran` && touch ran | touch ran #\n touch ran\n"
    other = Runner(runner.source, runner.workspace / "temp", runner.workspace)
    done = other.run(INSTALL, version=evil, packages=evil)
    assert done.returncode != 0
    assert "Invalid requirement: 'sayso==x\" " in done.stderr
    assert (other.temporary / "sayso-lint" / "packages.txt").read_text() == f"{evil}\n"
    # With a file for SARIF the step ends where that is written, so that comes by itself.
    linted = dict.fromkeys(("target", "profile", "format", "baseline", "fail_on"), evil)
    assert runner.run(LINT, **linted).returncode == 2
    runner.run(LINT, target="tools.json", sarif_file=evil)
    inputs = {*linted, "sarif_file", "version", "packages"}
    assert inputs == {one.replace("-", "_") for one in ACTION["inputs"]}
    assert not list(runner.workspace.glob("**/ran"))


def pre_commit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `pre-commit` with a home of its own beside the folder."""
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *words],
        cwd=folder,
        env={**environment(folder), "PRE_COMMIT_HOME": str(folder.parent / "hooks")},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def test_the_hook_holds_a_commit_up_in_a_scratch_repository(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    head = ["git", "-C", str(source), "rev-parse", "HEAD"]
    rev = subprocess.run(head, check=True, capture_output=True, encoding="utf-8").stdout.strip()
    hook = {"id": "sayso-lint", "args": ["tools.json", "--profile", "spec"]}
    asked = {"repos": [{"repo": str(source), "rev": rev, "hooks": [hook]}]}
    (folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(asked))
    commit(folder)
    assert (
        pre_commit(folder, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")).stdout == ""
    )

    save(folder, WRONG)
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    held = pre_commit(folder, "run")
    assert held.returncode == 1, held.stdout + held.stderr
    assert "sayso lint...." in held.stdout
    assert "SS103 [hint-not-a-boolean] list_bills" in held.stdout

    save(folder, SOUND)
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    passed = pre_commit(folder, "run")
    assert (passed.returncode, "Passed" in passed.stdout) == (0, True), passed.stdout

    subprocess.run(["git", "-C", str(folder), "commit", "-q", "-m", "more"], check=True)
    (folder / "notes.txt").write_text("nothing of a server\n")
    subprocess.run(["git", "-C", str(folder), "add", "."], check=True)
    assert "Skipped" in pre_commit(folder, "run").stdout


DOCUMENT = (ROOT / "docs" / "guides" / "ci.md").read_text(encoding="utf-8")
WORKFLOW, HOOKS = (
    yaml.safe_load(one) for one in re.findall(r"```yaml\n(.*?)```", DOCUMENT, re.DOTALL)
)


def test_the_inputs_in_the_document_are_those_of_the_action() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (?:`(\w+)`)? ?\|", DOCUMENT, re.MULTILINE)
    assert dict(rows) == {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
    (step,) = (one for one in WORKFLOW["jobs"]["lint"]["steps"] if "/sayso@" in one["uses"])
    assert set(step["with"]) <= set(ACTION["inputs"])


def test_the_hook_in_the_document_is_one_that_there_is(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(HOOKS))
    done = pre_commit(tmp_path, "validate-config", "config.yaml")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    (manifest,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [one["id"] for one in HOOKS["repos"][0]["hooks"]] == [manifest["id"]]
