"""What all tests share."""

import pytest
from hypothesis import settings

# A time limit per example says how busy the machine is, not whether the code is right.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio, the loop that avow is served on."""
    return "asyncio"
