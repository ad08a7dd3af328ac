"""What the official conformance suite passes directly, it passes through the gateway."""

import pytest
from tests.conformance.suite import SUITE, VERSIONS, Sides, compare, is_passed

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not SUITE.exists(), reason="needs the suite that `make proof` installs"),
]

OPTIONAL = {"server-sse-streams-functional"}
"""The suite says `INFO` here of a server that answers with JSON, as the gateway does."""


@pytest.fixture(scope="module")
def sides() -> list[Sides]:
    return compare()


@pytest.mark.parametrize("version", VERSIONS)
def test_what_passes_directly_passes_through_the_gateway(sides: list[Sides], version: str) -> None:
    (side,) = (one for one in sides if one.version == version)
    passed = {
        (scenario, check)
        for scenario, checks in side.direct.items()
        for check, status in checks.items()
        if status == "SUCCESS" and check not in OPTIONAL
    }
    through = {
        (scenario, check)
        for scenario, checks in side.through.items()
        for check, status in checks.items()
        if status == "SUCCESS"
    }
    assert len(side.direct) >= 25
    assert passed - through == set()
    assert all(is_passed(checks) for checks in side.through.values())
