"""Salts are random and never used twice."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from sayso.audit.record import draw_salt

FORKED = """
import os
from sayso.audit.record import draw_salt

draw_salt()
if child := os.fork():
    os.waitpid(child, 0)  # so that the two do not write into each other's lines
print(*(draw_salt() for _ in range(200)), flush=True)
"""


def test_no_salt_is_drawn_twice_whoever_draws() -> None:
    def draw(_: int) -> str:
        return draw_salt()

    with ThreadPoolExecutor(8) as pool:
        salts = list(pool.map(draw, range(5000)))
    assert len(set(salts)) == 5000
    assert all(len(one) == 16 and int(one, 16) >= 0 for one in salts)


@pytest.mark.process
def test_a_fork_draws_salts_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    salts = done.stdout.split()
    assert len(set(salts)) == len(salts) == 400
