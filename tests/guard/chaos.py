"""Killing `mortal` again and again, and what must be true of a run however often it was killed."""

import json
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.guard.lives import ASKS, KEYED, KEYS, KINDS, MAY_REPEAT, Life, needs_a_death

from sayso.approvals import Approval, Approvals
from sayso.audit import read_heads
from sayso.audit.verifier import Problem, verify
from sayso.store import GrantRow, RecordRow, open_store

_ROOT: Final = Path(__file__).resolve().parents[2]
_KILLS_PER_ROUND: Final = 5
_KILLED: Final = -9
_MAY_HAVE_RUN: Final = ("ok", "outcome_unknown")


@dataclass(frozen=True)
class Run:
    """A journal line: one effect on the world. `recorded` attempts were on disk at that moment."""

    call: str
    kind: str
    number: int
    key: str | None
    recorded: int


@dataclass(frozen=True)
class Evidence:
    """All that is left after a run."""

    runs: list[Run]
    rows: list[RecordRow]
    approvals: dict[int, Approval]
    grants: dict[int, GrantRow]
    problems: list[Problem]


@dataclass
class Chaos:
    """One program that lives and dies on one database."""

    url: str
    folder: Path
    mutant: str = ""
    kills: Counter[str] = field(default_factory=Counter[str])
    kinds: Counter[str] = field(default_factory=Counter[str])
    rounds: int = 0
    answers: Counter[str] = field(default_factory=Counter[str])

    @property
    def journal(self) -> Path:
        return self.folder / "journal"

    @property
    def heads(self) -> Path:
        return self.folder / "heads"

    def run(self, plan: Iterable[tuple[str, str]]) -> None:
        """Kill at each place of the plan: some kills a round, then a life that ends by itself.

        A call that a key holds back does not come by a second time in its round: that place is
        waited for at the beginning of the next one, where every call is new.
        """
        words = [self.url, str(self.journal), str(self.heads), self.mutant]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.guard.mortal", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
            text=True,
        ) as program:
            try:
                self._rounds(program, deque(plan))
                program.communicate(timeout=30)
            finally:
                program.kill()
        assert program.returncode == 0

    def _rounds(self, program: "subprocess.Popen[str]", queue: deque[tuple[str, str]]) -> None:
        while queue:
            self.rounds += 1
            turn = 0
            while queue and (turn < _KILLS_PER_ROUND or needs_a_death(queue[0][0])):
                point, kind = queue[0]
                if self._live(program, Life(self.rounds, point, kind)) == _KILLED:
                    queue.popleft()
                    self.kills[point] += 1
                    self.kinds[kind or "sayso itself"] += 1
                    turn += 1
                else:
                    assert turn, f"no {kind or 'life'} came by “{point}”"
                    break
            assert self._live(program, Life(self.rounds)) == 0

    def _live(self, program: "subprocess.Popen[str]", life: Life) -> int:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(f"{json.dumps(asdict(life))}\n")
        program.stdin.flush()
        while True:
            told = json.loads(program.stdout.readline())
            assert "hung" not in told, life
            if "end" in told:
                assert told["end"] in (0, _KILLED), life
                return told["end"]
            self.answers.update(told["answers"])

    async def evidence(self) -> Evidence:
        store = open_store(self.url)
        known = read_heads(self.heads.read_text().splitlines())
        report = await verify(store.records, KEYS, known=known)
        approvals = await Approvals.of(store, keys=KEYS).newest(limit=1_000_000)
        found = Evidence(
            runs=[Run(**json.loads(line)) for line in self.journal.read_text().splitlines()],
            rows=await store.records.scan(0, 1_000_000),
            approvals={one.number: one for one in approvals},
            grants={one.number: one for one in await store.grants.newest(limit=1_000_000)},
            problems=report.problems,
        )
        await store.close()
        return found


def faults(found: Evidence) -> list[str]:
    """All that is wrong with a run; nothing, however often it was killed."""
    return [
        *_unrecorded(found),
        *_unapproved(found),
        *_repeated(found),
        *_badly_ended(found),
        *(f"unverified: {one}" for one in found.problems),
    ]


def _unrecorded(found: Evidence) -> Iterator[str]:
    """Each run of what is no read, or has a key, had an attempt of its own on disk before it."""
    so_far: Counter[str] = Counter()
    for run in found.runs:
        so_far[run.call] += 1
        if run.kind != "read" and run.recorded < so_far[run.call]:
            yield f"unrecorded: {run}"


def _unapproved(found: Evidence) -> Iterator[str]:
    """Each run of what destroys used an approval that no other call used, or a grant."""
    attempts = {row.call: json.loads(row.body) for row in _of(found, "attempt")}
    users: dict[int, str] = {}
    for call, body in attempts.items():
        number = body.get("approval")
        if number is not None and users.setdefault(number, call) != call:
            yield f"shared: approval {number} was used by {users[number]} and by {call}"
    for run in found.runs:
        if run.kind in ASKS and not _has_leave(found, run, attempts.get(run.call, {})):
            yield f"unapproved: {run}"


def _has_leave(found: Evidence, run: Run, attempt: dict[str, Any]) -> bool:
    grant = found.grants.get(attempt.get("grant", 0))
    if grant is not None:
        return json.loads(grant.body)["tool"] == run.kind
    approval = found.approvals.get(attempt.get("approval", 0))
    if approval is None:
        return False
    asked = (approval.question.tool, approval.question.arguments["number"])
    return approval.used_by == run.call and asked == (run.kind, run.number)


def _repeated(found: Evidence) -> Iterator[str]:
    """No call ran twice, and none with a key that another had."""
    calls = Counter(run.call for run in found.runs if run.kind not in MAY_REPEAT)
    yield from (f"repeated: call {call} ran {n} times" for call, n in calls.items() if n > 1)
    keys = Counter(run.key for run in found.runs if run.kind in KEYED)
    yield from (f"repeated: key {key} ran {n} times" for key, n in keys.items() if n > 1)


def _badly_ended(found: Evidence) -> Iterator[str]:
    """Check that each attempt has one outcome or is unknown, and no call that ran was denied."""
    ends: dict[str, list[RecordRow]] = {}
    for row in _of(found, "outcome"):
        ends.setdefault(row.call, []).append(row)
    ran = {run.call for run in found.runs}
    for attempt in {row.call: row for row in _of(found, "attempt")}.values():
        of_call = ends.get(attempt.call, [])
        if len(of_call) != 1:
            yield f"ended: call {attempt.call} has {len(of_call)} ends"
            continue
        body, writer = json.loads(of_call[0].body), of_call[0].writer
        is_closed = (body["outcome"], body.get("closed_for")) == ("outcome_unknown", attempt.writer)
        if writer != attempt.writer and not is_closed:
            yield f"ended: call {attempt.call} was ended by another writer: {body}"
        if attempt.call in ran and body["outcome"] not in _MAY_HAVE_RUN:
            yield f"ended: call {attempt.call} ran, and its end says {body['outcome']}"


def _of(found: Evidence, event: str) -> Iterator[RecordRow]:
    return (row for row in found.rows if row.event == event)


def unknowns(found: Evidence) -> int:
    """Return how many calls were closed for a writer that was killed."""
    return sum("closed_for" in json.loads(row.body) for row in _of(found, "outcome"))


def told(chaos: Chaos, found: Evidence, seconds: float) -> str:
    """Return the figures of a run for the output."""
    steps = ", ".join(f"{point} {n}" for point, n in sorted(chaos.kills.items()))
    kinds = ", ".join(f"{kind} {chaos.kinds[kind]}" for kind in [*KINDS, "sayso itself"])
    return (
        f"{chaos.kills.total()} kills in {chaos.rounds} rounds, {seconds:.1f} s; "
        f"{len(found.runs)} lines of the journal, {unknowns(found)} unknown ends, "
        f"{len(found.rows)} records\nby kind of call: {kinds}\nby point: {steps}"
    )
