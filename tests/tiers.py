"""Which tests run when. What a test needs decides, and is found here, so that nobody forgets it.

`make test` leaves out every test with a marker of `NEEDS`, but for the few that are marked `smoke`.
A test gets its markers from its fixtures, from its parameters and from `FILES`; one that starts a
program and has none of them fails, and says so.
"""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

NEEDS = frozenset({"browser", "npm", "postgres", "process", "proof"})
"""What a test may need that `make test` does not have, or has no time for."""

FIXTURES = {
    "chromium": "browser",
    "layers": "process",
    "postgres": "postgres",
    "warm_git": "process",
}
"""Fixtures, and what a test needs that uses one."""

PARAMETERS = {"postgresql": "postgres", "stdio": "process"}
"""Values of parameters, and what a test needs that has one."""

FILES: dict[str, tuple[str, ...]] = {
    "npm": ("gateway/test_everything.py", "gateway/test_noise.py"),
    "process": (
        "agents/test_restart.py",
        "approvals/test_races.py",
        "attacks/test_clock.py",
        "attacks/test_crowd.py",
        "attacks/test_disk.py",
        "attacks/test_pipe.py",
        "attacks/test_unread.py",
        "cli/test_credentials.py",
        "cli/test_drain.py",
        "cli/test_gateway.py",
        "cli/test_gateway_policy.py",
        "cli/test_hangup.py",
        "cli/test_shared_store.py",
        "cli/test_workers.py",
        "connect/test_link.py",
        "connect/test_listing.py",
        "console/test_pages.py",
        "demo/test_guests.py",
        "demo/test_plain_server.py",
        "demo/test_server.py",
        "gateway/test_asking.py",
        "gateway/test_cancelling.py",
        "gateway/test_contract.py",
        "gateway/test_contract_escapes.py",
        "gateway/test_faults.py",
        "gateway/test_forms.py",
        "gateway/test_health.py",
        "gateway/test_introduction.py",
        "gateway/test_listings.py",
        "gateway/test_main_job.py",
        "gateway/test_subscriptions.py",
        "gateway/test_passthrough.py",
        "gateway/test_principals.py",
        "gateway/test_receipts.py",
        "gateway/test_replicas.py",
        "gateway/test_search.py",
        "gateway/test_slow.py",
        "gateway/test_switched_off.py",
        "gateway/test_unmatched.py",
        "gateway/test_visit.py",
        "guard/test_chaos.py",
        "processes/test_hostile_client.py",
        "sandbox/test_attacks_box.py",
        "sandbox/test_box.py",
        "sandbox/test_ending.py",
        "sandbox/test_probe.py",
        "sandbox/test_root.py",
        "serve/test_examples.py",
        "site/test_site.py",
        "site/test_tasks.py",
        "store/test_notices.py",
        "store/test_postgres.py",
        "store/test_statement_watchdog.py",
        "test_ci.py",
        "test_dist.py",
        "test_docs.py",
        "test_faces.py",
        "test_minimal.py",
        "test_warm.py",
        "testing/test_docs_testing.py",
        "testing/test_plugin.py",
        "verify/observe/test_syscalls_real.py",
        "verify/run/test_remote.py",
        "verify/run/test_run.py",
        "verify/test_attacks.py",
        "verify/test_postgres.py",
        "verify/test_run.py",
        "workers/test_pool.py",
    ),
    "proof": ("conformance/",),
}
"""Files and folders, and what all tests in them need. Single tests say it with `pytest.mark`."""

ALLOWED = frozenset({"git", "uname"})
"""Programs that any test may start: they are quick, and wherever this repository is."""

OWN = "sayso.workers"
"""In the words of sayso's own workers: which test starts one depends on those before it."""

TESTS = Path(__file__).parent

EXAMPLES = {"quick": 10, "ordinary": 100, "long": 1000}
"""Profiles of Hypothesis for `make test`, `make check` and `make proof`, with their examples."""

STARTED: list[str] = []
"""Programs that the test at hand has started."""


def load_profiles() -> None:
    """Make the profiles known. A limit on time says how busy the machine is, so there is none."""
    for name, number in EXAMPLES.items():
        settings.register_profile(name, deadline=None, max_examples=number)
    settings.load_profile("ordinary")


def examples(ordinary: int) -> int:
    """Return how many examples to try where `make check` tries this many."""
    return max(1, ordinary * settings().max_examples // EXAMPLES["ordinary"])


def mark(item: pytest.Item) -> None:
    """Give a test the markers of what it needs."""
    path = item.path.relative_to(TESTS).as_posix()
    folders = {path, *(f"{parent}/" for parent in Path(path).parents)}
    for marker, places in FILES.items():
        if folders & set(places):
            item.add_marker(marker)
    for fixture, marker in FIXTURES.items():
        if fixture in getattr(item, "fixturenames", ()):
            item.add_marker(marker)
    parameters = getattr(item, "callspec", None)
    for value in parameters.params.values() if parameters is not None else ():
        if isinstance(value, str) and value in PARAMETERS:
            item.add_marker(PARAMETERS[value])


def watch() -> None:
    """Write down which programs are started, from now on."""
    sys.addaudithook(lambda event, arguments: remember(event, arguments, STARTED))


def remember(event: str, arguments: tuple[Any, ...], started: list[str]) -> None:
    """Add the program to the list if this event of the interpreter is the start of one."""
    if event in {"subprocess.Popen", "os.posix_spawn"}:
        if OWN in str(arguments[1]):
            return
        started.append(Path(os.fsdecode(arguments[0])).name)
    elif event in {"os.fork", "os.forkpty"}:
        started.append(event)


def check(item: pytest.Item, started: list[str]) -> None:
    """Fail if a test without a marker of `NEEDS` has started a program."""
    programs = [name for name in started if name not in ALLOWED]
    if programs and not any(marker.name in NEEDS for marker in item.iter_markers()):
        what = f"starts {', '.join(programs)}: mark it `process`, or list it in tests/tiers.py"
        pytest.fail(what, pytrace=False)
