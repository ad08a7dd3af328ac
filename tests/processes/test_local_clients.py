"""Clients on this machine: a decision after a look knows the results of all looks before it."""

import threading
from collections.abc import Callable, Collection
from typing import Any

import pytest

from sayso.processes import Clients, LocalClients, local_clients

Look = Callable[[int, Collection[int]], list[int]]


def noted(monkeypatch: pytest.MonkeyPatch, look: Look) -> tuple[LocalClients, list[int]]:
    """Clients with one new port, and the list of processes that become known."""
    found: list[int] = []

    def add(_clients: Clients, pid: int) -> None:
        found.append(pid)

    monkeypatch.setattr(Clients, "add", add)
    monkeypatch.setattr(local_clients, "clients_of", look)
    return LocalClients(Clients(), 8321, _new={50_000}, _is_due=True), found


def test_a_look_waits_for_the_one_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    began, go = threading.Event(), threading.Event()

    def slow(_port: int, _ports: Collection[int]) -> list[int]:
        began.set()
        assert go.wait(30)
        return [7]

    callers, found = noted(monkeypatch, slow)
    seen: list[list[int]] = []

    def decide() -> None:
        callers.look()
        seen.append([*found])

    threads = [threading.Thread(target=callers.look), threading.Thread(target=decide)]
    threads[0].start()
    assert began.wait(30)
    threads[1].start()
    threads[1].join(0.2)
    assert seen == []
    go.set()
    for thread in threads:
        thread.join(30)
    assert seen == [[7]]


def test_a_look_that_fails_leaves_its_ports_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = [OSError("no descriptor is left"), [7]]

    def failing(_port: int, _ports: Collection[int]) -> list[int]:
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer

    callers, found = noted(monkeypatch, failing)
    with pytest.raises(OSError, match="descriptor"):
        callers.look()
    callers.look()
    callers.look()
    assert found == [7]
