"""Completes the list of dependencies (CycloneDX) and prints their licences; `make sbom` runs it.

Usage: `.venv/bin/python tools/licenses.py LIST COMPLETED PACKAGES`. The completed list names the
version of sayso, and marks as `optional` what only extras need. A licence that is not in `ALLOWED`
ends the program with 1.
"""

import json
import re
import sys
import tomllib
from collections.abc import Container, Iterable, Mapping
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sayso.version import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
ALLOWED: Final = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "LGPL-3.0-only",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Unlicense",
        "License :: OSI Approved :: Apache Software License",
        "License :: OSI Approved :: BSD License",
        "License :: OSI Approved :: MIT License",
        "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)",
    }
)
"""Licences that allow to use the package, unchanged, with a program under Apache-2.0."""

KNOWN: Final = {"protobuf": "BSD-3-Clause"}
"""Licences of packages whose metadata names none, read from the LICENSE file inside."""

Bom = dict[str, Any]


def complete(bom: Bom, required: Container[str], version: str = __version__) -> Bom:
    """Return the list with sayso's version, a scope for each component, and known licences.

    `required` are the names of the packages that sayso needs without extras.
    """
    root = {**bom["metadata"]["component"], "version": version, "purl": f"pkg:pypi/sayso@{version}"}
    components: list[Bom] = []
    for component in bom["components"]:
        name = canonicalize_name(component["name"])
        scope = "required" if name in required else "optional"
        completed = {**component, "scope": scope}
        if not component.get("licenses") and name in KNOWN:
            concluded = {"id": KNOWN[name], "acknowledgement": "concluded"}
            completed["licenses"] = [{"license": concluded}]
        components.append(completed)
    metadata = {**bom["metadata"], "component": root}
    return {**bom, "metadata": metadata, "components": components}


def needed(requirements: Iterable[str], requires: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the names of all packages that `requirements` need here, directly or not.

    `requires` gives the requirements of each installed package.
    """
    waiting = [Requirement(text) for text in requirements]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                below = map(Requirement, requires.get(name, ()))
                waiting += [one for one in below if _applies(one, extra)]
    return {name for name, _ in seen}


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def licenses(component: Mapping[str, Any]) -> list[str]:
    """Return the licences of a component, each an SPDX expression or a name."""
    found: list[str] = []
    for entry in component.get("licenses", []):
        license_ = entry.get("license", {})
        text = entry.get("expression") or license_.get("id") or license_.get("name")
        if text:
            found.append(text)
    return found


def is_allowed(license_: str) -> bool:
    """Return whether a licence, or a choice between licences, needs no further look.

    >>> is_allowed("MPL-2.0 AND (Apache-2.0 OR MIT)"), is_allowed("MIT AND AGPL-3.0-only")
    (True, False)
    >>> is_allowed("MIT OR GPL-2.0-only")
    True
    """
    if license_ in ALLOWED:
        return True
    parts = re.split(r"\s+AND\s+", license_)
    return all(any(name in ALLOWED for name in re.findall(r"[\w.-]+", part)) for part in parts)


def problems(bom: Bom) -> list[str]:
    """Return the components whose licence is missing or needs a look, as sentences."""
    found: list[str] = []
    for component in bom["components"]:
        names = licenses(component)
        if not names:
            found.append(f"{component['name']}: its metadata names no licence; add it to KNOWN")
        found += [f"{component['name']}: {name}" for name in names if not is_allowed(name)]
    return found


def table(bom: Bom) -> str:
    """Return one line for each component: name, version, scope and licence."""
    lines = [
        f"{one['name']} {one['version']} ({one['scope']}): {licenses(one)[0]}"
        for one in bom["components"]
        if licenses(one)
    ]
    return "\n".join(sorted(lines, key=str.lower)) + "\n"


def main(source: Path, target: Path, packages: Path) -> int:
    """Complete the list in `source` into `target`, and print the licences.

    `packages` is the folder in which sayso's dependencies are installed.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = distributions(path=[str(packages)])
    requires = {str(canonicalize_name(one.name)): one.requires or [] for one in installed}
    required = needed(project["dependencies"], requires)
    bom = complete(json.loads(source.read_text(encoding="utf-8")), required)
    target.write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(table(bom))
    found = problems(bom)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
