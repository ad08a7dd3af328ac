"""The code that a process may load, and the code that starts with its interpreter."""

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from tests.connect.test_package import RECORD, put, run, site_of, venv

from sayso.connect import CommandTarget
from sayso.connect import package_digest as packed_module
from sayso.connect.loading import imported_by_others, shadowing
from sayso.connect.package import describe_package
from sayso.connect.startup import BYTECODE

__all__ = ["venv"]


@pytest.mark.process
def test_code_that_a_script_does_not_load_does_not_count(tmp_path: Path) -> None:
    script = put(tmp_path / "crm.py", "import json, crm_lib\nfrom crm_rows import read\n")
    put(tmp_path / "crm_lib.py", "from crm_deep import x")
    put(tmp_path / "crm_deep" / "inner" / "x.py")
    put(tmp_path / "crm_rows.py")
    before = run(sys.executable, script)
    assert before
    assert set(before["files"]) == {"crm.py", "crm_lib.py", "crm_deep/inner/x.py", "crm_rows.py"}
    for name in ("test_crm.py", "tests/test_x.py", "README.md", "notes.txt", "seed_crm.py"):
        put(tmp_path / name, "import crm")
    put(tmp_path / ".venv" / "lib" / "x.py")
    assert run(sys.executable, script) == before


@pytest.mark.process
def test_a_package_of_python_may_have_the_name_of_npms_folder(tmp_path: Path) -> None:
    script = put(tmp_path / "crm.py", "import node_modules")
    put(tmp_path / "node_modules" / "tool.py")
    before = run(sys.executable, script)
    assert before
    assert set(before["files"]) == {"crm.py"}
    put(tmp_path / "node_modules" / "__init__.py")
    after = run(sys.executable, script)
    assert after
    assert set(after["files"]) == {"crm.py", "node_modules/__init__.py", "node_modules/tool.py"}


@pytest.mark.parametrize(
    "name",
    [
        "crm_lib/__init__.py",
        "crm_lib/__init__.pyc",
        "crm_lib/deep/x.py",
        "crm_lib.pyc",
        "crm_lib.cpython-311-x86_64-linux-gnu.so",
        "crm_lib.abi3.so",
        "json.py",
        "json.pyc",
        "json/__init__.py",
        "random.so",
        "annotationlib.py",
        "distutils/__init__.py",
        "anyio.py",
    ],
)
@pytest.mark.process
def test_code_that_would_be_loaded_instead_is_another_package(tmp_path: Path, name: str) -> None:
    script = put(tmp_path / "crm.py", "import crm_lib")
    put(tmp_path / "crm_lib.py")
    before = run(sys.executable, script)
    assert before
    put(tmp_path / name)
    assert run(sys.executable, script) != before


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nimportlib.import_module(name)",
        "__import__('see' + 'd')",
        "exec(source)",
        "import sys\nsys.path.insert(0, where)",
        "import subprocess, glob",
        "import pickle",
        "import pydoc\npydoc.locate('see' + 'd')",
        "from logging.config import fileConfig",
        "from ctypes import CDLL",
        "\N{FULLWIDTH LATIN SMALL LETTER E}xec(source)",
    ],
)
@pytest.mark.process
def test_a_script_that_may_load_what_it_does_not_name_may_load_all(
    tmp_path: Path, text: str
) -> None:
    script = put(tmp_path / "crm.py", text)
    before = run(sys.executable, script)
    put(tmp_path / "seed.py")
    assert run(sys.executable, script) != before


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import größe", "größe.py"),
        ("import gro\u0308ße", "größe.py"),
        ("import ﬁle_io", "file_io.py"),
        ("# coding: utf-7\nimport +AGM-rm_rows", "crm_rows.py"),
        ("# coding: none such\nimport crm_rows", "crm_rows.py"),
        ("# runs crm-rows.py", "crm-rows.py"),
    ],
)
@pytest.mark.process
def test_a_module_counts_under_each_spelling_that_python_takes(
    tmp_path: Path, text: str, name: str
) -> None:
    script = put(tmp_path / "crm.py", text)
    before = run(sys.executable, script)
    assert before
    put(tmp_path / name)
    assert run(sys.executable, script) != before


@pytest.mark.process
def test_what_looks_like_an_environment_counts_as_far_as_a_name_leads_into_it(
    tmp_path: Path,
) -> None:
    script = put(tmp_path / "crm.py", "import rows, more")
    put(tmp_path / "rows" / "pyvenv.cfg")
    put(tmp_path / "more" / "pyvenv.cfg")
    before = run(sys.executable, script)
    assert before
    for name in ("rows/lib/x.py", "rows/Scripts/x.py", "rows/__pycache__/x.pyc", "rows/README.md"):
        put(tmp_path / name)
    assert run(sys.executable, script) == before
    for name in ("rows/x.py", "rows/deep/x.py", "more/__init__.py", "more/lib/x.py"):
        put(tmp_path / name)
        after = run(sys.executable, script)
        assert after
        assert name in after["files"]


@pytest.mark.parametrize(
    "name", ["anyio.py", "json/__init__.py", "crm_lib.py", "crm_lib/x.py", "sayso/connect/x.py"]
)
@pytest.mark.process
def test_what_sayso_launches_elsewhere_may_find_other_code_there(tmp_path: Path, name: str) -> None:
    script = put(tmp_path / "crm.py", "import crm_lib")
    words = (sys.executable, "-m", "sayso.connect.launch", script)
    put(tmp_path / "s" / "notes.py")
    (tmp_path / "s" / "crm_lib").mkdir()
    assert run(*words, cwd=tmp_path / "s") == run(*words, cwd=tmp_path)
    put(tmp_path / "s" / name)
    assert run(*words, cwd=tmp_path / "s") is None


def test_where_nobody_knows_what_is_installed_any_module_may_be_found_first(
    tmp_path: Path,
) -> None:
    put(tmp_path / "not-a-name.py")
    put(tmp_path / "notes.txt")
    assert shadowing(tmp_path, None) == []
    put(tmp_path / "notes.py")
    assert shadowing(tmp_path, None) == ["notes"]


@pytest.mark.process
def test_a_script_that_its_server_starts_counts(tmp_path: Path) -> None:
    script = put(tmp_path / "crm.py", "import subprocess\nsubprocess.run(['python', 'my-tool.py'])")
    put(tmp_path / "my-tool.py", "1")
    before = run(sys.executable, script)
    put(tmp_path / "my-tool.py", "2")
    assert run(sys.executable, script) != before


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONHOME", "PYTHONUSERBASE"),
        *("PYTHONPYCACHEPREFIX", "PYTHONWARNINGS", "PYTHONBREAKPOINT", "NODE_PATH"),
        *("NODE_COMPILE_CACHE", "npm_config_node_options", "DYLD_INSERT_LIBRARIES"),
    ],
)
@pytest.mark.process
def test_variables_that_steer_loading_void_what_is_told(tmp_path: Path, name: str) -> None:
    script = str(put(tmp_path / "crm.py"))
    assert describe_package(CommandTarget("s", sys.executable, (script,))) is not None
    target = CommandTarget("s", sys.executable, (script,), {name: "x"})
    assert describe_package(target) is None


@pytest.mark.parametrize(
    "name",
    [
        "notes_mcp/deep/er/x.py",
        "notes_mcp/x.pyc",
        "notes_mcp/__init__.abi3.so",
        "notes_lone/__init__.py",
        "notes_lone.pyc",
        "notes_lone.cpython-311-x86_64-linux-gnu.so",
    ],
)
def test_code_that_joins_an_installed_package_is_seen_however_deep(venv: Path, name: str) -> None:
    before = run(venv / "bin" / "notes-mcp")
    assert before
    put(site_of(venv) / name)
    assert run(venv / "bin" / "notes-mcp") != before


def test_of_a_namespace_only_the_packages_own_part_counts(venv: Path) -> None:
    info = site_of(venv) / "Notes_MCP-1.2.dist-info"
    put(site_of(venv) / "corp" / "notes" / "__init__.py")
    put(info / "RECORD", f"{RECORD}corp/notes/__init__.py,,\n")
    before = run(venv / "bin" / "notes-mcp")
    put(site_of(venv) / "corp" / "others" / "__init__.py")
    assert run(venv / "bin" / "notes-mcp") == before
    put(site_of(venv) / "corp" / "notes" / "more.py")
    assert run(venv / "bin" / "notes-mcp") != before


@pytest.mark.parametrize("name", ["x.pth", "sitecustomize.py", "usercustomize/__init__.py"])
def test_code_that_starts_with_the_interpreter_cannot_be_told(venv: Path, name: str) -> None:
    put(site_of(venv) / "paths.pth", "# a comment\n/srv/more\n")
    assert run(venv / "bin" / "notes-mcp")
    put(site_of(venv) / name, "import os; os.abort()")
    assert run(venv / "bin" / "notes-mcp") is None
    assert run(venv / "bin" / "python", put(venv / "s" / "crm.py")) is None


def test_code_that_starts_with_the_interpreter_and_came_with_a_package_is_told(venv: Path) -> None:
    text = "import os; os.getcwd()"
    put(site_of(venv) / "x.pth", text)
    digest = urlsafe_b64encode(sha256(text.encode()).digest()).decode().rstrip("=")
    put(site_of(venv) / "x-1.dist-info" / "RECORD", f"x.pth,sha256={digest},22\n")
    assert run(venv / "bin" / "notes-mcp")
    put(site_of(venv) / "x.pth", f"{text}; os.abort()")
    assert run(venv / "bin" / "notes-mcp") is None


def test_an_environment_with_the_systems_packages_cannot_be_told(venv: Path) -> None:
    put(venv / "pyvenv.cfg", "include-system-site-packages = true\n")
    assert run(venv / "bin" / "notes-mcp") is None


_CALL = "from notes_mcp import main\nmain()\n"


@pytest.mark.parametrize(
    "text",
    [
        "#!{python}\nimport os\nfrom notes_mcp import main\nos.abort()\nmain()\n",
        "#!{python}\nfrom notes_mcp import main\nfrom evil import main\nmain()\n",
        f"#!/evil/python\n{_CALL}",
        "#!{python} -X frozen_modules\n" + _CALL,
        "#!{python}\nfrom notes_mcp import main\nif __name__ == '__main__':\n    exec('1')\n",
        "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"; evil\n' '''\n" + _CALL,
    ],
)
def test_a_command_that_does_more_than_call_its_package_cannot_be_told(
    venv: Path, text: str
) -> None:
    assert run(venv / "bin" / "notes-mcp")
    put(venv / "bin" / "notes-mcp", text.format(python=venv / "bin" / "python"))
    assert run(venv / "bin" / "notes-mcp") is None


@pytest.mark.parametrize("installer", ["pip", "pip 26", "uv", "long path"])
def test_commands_as_installers_write_them_are_told(venv: Path, installer: str) -> None:
    python = venv / "bin" / "python"
    body = "from notes_mcp import main\nif __name__ == '__main__':\n"
    pip = "    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])\n"
    end = "    sys.exit(main())\n"
    uv = (
        '    if sys.argv[0].endswith("-script.pyw"):\n        sys.argv[0] = sys.argv[0][:-11]\n'
        '    elif sys.argv[0].endswith(".exe"):\n        sys.argv[0] = sys.argv[0][:-4]\n'
    )
    first = f"#!{python}\n# -*- coding: utf-8 -*-\nimport re\nimport sys\n"
    inside = "if __name__ == '__main__':\n    from notes_mcp import main\n"
    long = f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\nimport re\nimport sys\n"
    texts = {
        "pip": first + body + pip + end,
        "pip 26": first + inside + pip + end,
        "uv": first + body + uv + end,
        "long path": long + body + pip + end,
    }
    put(venv / "bin" / "notes-mcp", texts[installer])
    assert run(venv / "bin" / "notes-mcp")


def test_a_module_where_it_is_started_that_others_import_cannot_be_told(
    venv: Path, tmp_path: Path
) -> None:
    words = (venv / "bin" / "python", "-m", "notes_mcp")
    put(tmp_path / "s" / "notes_server.py")
    (tmp_path / "s" / "json").mkdir()
    assert run(*words, cwd=tmp_path / "s")
    put(tmp_path / "s" / "json.py")
    assert run(*words, cwd=tmp_path / "s") is None
    (tmp_path / "s" / "json.py").unlink()
    put(tmp_path / "s" / "notes_extra.py")
    assert run(*words, cwd=tmp_path / "s")
    put(site_of(venv) / "importer.py", "import os, notes_extra")
    assert run(*words, cwd=tmp_path / "s") is None


def test_a_part_of_a_namespace_where_it_is_started_cannot_be_told(
    venv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (venv / "bin" / "python", "-m", "notes_mcp")
    put(site_of(venv) / "importer.py", "import spaces.x")
    put(site_of(venv) / "spaces" / "x.py")
    put(tmp_path / "s" / "spaces" / "notes.txt")
    assert run(*words, cwd=tmp_path / "s")
    put(tmp_path / "s" / "spaces" / "x.py")
    assert run(*words, cwd=tmp_path / "s") is None
    put(site_of(venv) / "spaces" / "__init__.py")
    assert run(*words, cwd=tmp_path / "s")
    (site_of(venv) / "spaces" / "__init__.py").rename(site_of(venv) / "spaces.py")
    assert run(*words, cwd=tmp_path / "s")
    monkeypatch.setattr(packed_module, "MOST_FILES", 1)
    put(tmp_path / "s" / "spaces" / "y.py")
    assert shadowing(tmp_path / "s", None) == ["spaces"]


def test_the_start_of_an_environment_of_virtualenv_is_known(venv: Path) -> None:
    site = site_of(venv)
    put(site / "_virtualenv.pth", "import _virtualenv")
    put(site / "_virtualenv.py", Path(_virtualenv_file()).read_text(encoding="utf-8"))
    assert run(venv / "bin" / "notes-mcp")
    put(site / "_virtualenv.py", "import os")
    assert run(venv / "bin" / "notes-mcp") is None


def _virtualenv_file() -> str:
    package = pytest.importorskip("virtualenv")
    return str(Path(package.__file__).parent / "create" / "via_global_ref" / "_virtualenv.py")


@pytest.mark.process
def test_bytecode_beside_a_source_is_told(tmp_path: Path) -> None:
    target = CommandTarget("s", sys.executable, (str(put(tmp_path / "crm.py")),))
    before = describe_package(target)
    assert before
    assert BYTECODE not in before
    put(tmp_path / "__pycache__" / "crm.cpython-311.pyc")
    assert describe_package(target) == {**before, BYTECODE: True}


def test_bytecode_beside_an_installed_source_is_told(venv: Path) -> None:
    target = CommandTarget("s", str(venv / "bin" / "notes-mcp"), ())
    before = describe_package(target)
    assert before
    assert BYTECODE not in before
    put(site_of(venv) / "notes_mcp" / "__pycache__" / "__init__.cpython-311.pyc")
    assert describe_package(target) == {**before, BYTECODE: True}


def test_an_environment_with_too_many_modules_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {"seed": [put(tmp_path / "seed.py")]}
    site = tmp_path / "site"
    for name in ("a.py", "b.py"):
        put(site / name, "import seed")
    monkeypatch.setattr(packed_module, "MOST_FILES", 1)
    with pytest.raises(ValueError, match="site"):
        imported_by_others(modules, site)
