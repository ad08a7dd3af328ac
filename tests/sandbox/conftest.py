"""What the tests of containment share."""

import anyio
import pytest
from tests.sandbox.boxes import Run, run_in_box

from sayso.sandbox.probe import probe_layers
from sayso.sandbox.spec import CONTAINING, Layer


@pytest.fixture(scope="session")
def layers() -> tuple[Layer, ...]:
    """The layers of this machine; without those that contain, there is nothing to test."""
    found = anyio.run(probe_layers)
    missing = [one for one in found if one.name in CONTAINING and not one.is_active]
    if missing:
        pytest.skip(f"needs bubblewrap and user namespaces: {missing}")
    return found


@pytest.fixture
def run(layers: tuple[Layer, ...]) -> Run:
    """Run Python code in a box, and give what it printed."""
    return run_in_box(layers)
