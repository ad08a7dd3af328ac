"""The faces of packages: what a server need not have is imported when it is first used."""

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import sayso

PACKAGES = sorted(
    one.name
    for one in pkgutil.iter_modules(sayso.__path__, "sayso.")
    if one.ispkg and hasattr(import_module(one.name), "__getattr__")
)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_of_a_package_is_there_and_no_module_takes_its_place(
    package: str,
) -> None:
    face = import_module(package)
    names: list[str] = getattr(face, "__all__", [])
    for module in pkgutil.iter_modules(face.__path__, f"{package}."):
        import_module(module.name)
    for name in names:
        assert not isinstance(getattr(face, name), type(sys)), name


def test_a_name_that_a_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'sayso\.policy' has no attribute 'nothing'"):
        _ = import_module("sayso.policy").nothing


@pytest.mark.process
def test_binding_a_server_imports_nothing_that_reads_policies_or_makes_reports() -> None:
    spared = [
        "sayso.policy.load",
        "sayso.audit.verifier",
        "sayso.policy.cases",
        "sayso.connect.target",
    ]
    code = (
        f"import sys, sayso; sayso.bind; print([one for one in {spared!r} if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.process
def test_a_gateway_begins_without_what_draws_pages_and_tables() -> None:
    spared = ["jinja2", "sayso.styled", "sayso.console.routes"]
    code = (
        "import sys, sayso.cli.app, sayso.cli.gateway, sayso.cli.serve; "
        f"print([one for one in {spared!r} if one in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
