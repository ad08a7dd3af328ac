"""The list of dependencies: complete, with scopes, and with licences that somebody has seen."""

import json
from pathlib import Path
from typing import Any

import pytest
from tools import licenses
from tools.licenses import complete, is_allowed, needed, problems, table

MIT = [{"license": {"id": "MIT"}}]


def component(name: str, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"bom-ref": f"{name}==1", "name": name, "version": "1", "licenses": entries}


def bom(*components: dict[str, Any]) -> dict[str, Any]:
    return {
        "metadata": {"component": {"name": "sayso", "bom-ref": "root-component"}},
        "components": list(components),
    }


BOM = bom(component("base_one", MIT), component("below", MIT), component("extra", MIT))


REQUIRES = {
    "base-one": ["below[fast]>=1", "never; python_version < '3'", "extra; extra == 'more'"],
    "below": ["base-one", "quick; extra == 'fast'"],
}


def test_a_package_is_needed_through_the_extras_and_markers_that_apply() -> None:
    assert needed(["Base_One>=1"], REQUIRES) == {"base-one", "below", "quick"}
    assert needed(["base.one[more]"], REQUIRES) == {"base-one", "below", "quick", "extra"}


def test_what_only_an_extra_needs_is_optional() -> None:
    completed = complete(BOM, {"base-one", "below"}, "1.2.3")
    scopes = {one["name"]: one["scope"] for one in completed["components"]}
    assert scopes == {"base_one": "required", "below": "required", "extra": "optional"}
    assert completed["metadata"]["component"]["version"] == "1.2.3"
    assert problems(completed) == []
    assert table(completed).splitlines()[-1] == "extra 1 (optional): MIT"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MIT", True),
        ("Apache-2.0 OR BSD-3-Clause", True),
        ("MIT OR GPL-2.0-only", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("MIT AND GPL-2.0-only", False),
        ("AGPL-3.0-or-later", False),
        ("License :: Other/Proprietary License", False),
        ("", False),
    ],
)
def test_a_licence_counts_only_if_every_part_is_allowed(*, text: str, expected: bool) -> None:
    assert is_allowed(text) is expected


def test_a_missing_and_an_unknown_licence_are_reported() -> None:
    entries = [{"expression": "AGPL-3.0-only"}]
    found = problems(bom(component("silent", []), component("strict", entries)))
    assert found == [
        "silent: its metadata names no licence; add it to KNOWN",
        "strict: AGPL-3.0-only",
    ]


def test_a_known_licence_fills_a_gap_and_never_replaces_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(licenses, "KNOWN", {"silent": "ISC", "strict": "MIT"})
    strict = component("strict", [{"expression": "AGPL-3.0-only"}])
    completed = complete(bom(component("silent", []), strict), [])
    assert table(completed) == "silent 1 (optional): ISC\nstrict 1 (optional): AGPL-3.0-only\n"
    assert problems(completed) == ["strict: AGPL-3.0-only"]


def test_the_program_writes_the_list_and_ends_with_1_for_a_licence_to_look_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "list.json"
    target = tmp_path / "completed.json"
    source.write_text(json.dumps(BOM))
    assert licenses.main(source, target, tmp_path) == 0
    assert len(json.loads(target.read_text())["components"]) == 3
    source.write_text(json.dumps(bom(component("silent", []))))
    assert licenses.main(source, target, tmp_path) == 1
    assert "silent: its metadata names no licence" in capsys.readouterr().err
