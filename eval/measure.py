"""All runs of one trial: each script behind each gate, with each labelling and each person."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory

from eval.gate import GATES, NO_GATE, Gate
from eval.labels import DECLARED, LABELLINGS, Label, label_tools
from eval.outcome import Ends, Made
from eval.person import KNOWS, NOBODY, TIRED, WORN, person
from eval.play import play
from eval.score import Tally, changes, tally
from eval.script import Script
from eval.stage import Stage, World, open_stage
from sayso.audit import AuditLog, open_audit
from sayso.keys import load_keys
from sayso.store import open_store, store_path


@dataclass(frozen=True, slots=True)
class Trial:
    """A world, what agents do in it, and the hints that its author would give or has given.

    `odd` are labels that hold whatever the labelling: tools that are not listed, or under another
    name.
    """

    world: World
    scripts: Sequence[Script]
    declared: Mapping[str, Mapping[str, bool] | None]
    labellings: Sequence[str] = LABELLINGS
    people: Sequence[str] = (KNOWS, TIRED, NOBODY)
    odd: Mapping[str, Label] = field(default_factory=dict[str, Label])

    def labels(self, how: str) -> dict[str, Label]:
        """The labels of one labelling."""
        return {**label_tools(how, self.declared, self.world.name), **self.odd}


@dataclass(frozen=True, slots=True)
class Row:
    """What was counted in one setting; `unasked` are the tools that did harm with no question."""

    world: str
    gate: str
    labels: str
    person: str
    attack: str
    tally: Tally
    unasked: Mapping[str, int]


Free = Mapping[str, tuple[list[Made], Ends]]
"""What happens when nothing stands in the way, by the name of the script."""


async def measure(trial: Trial, gates: Sequence[Gate] = GATES) -> list[Row]:
    """All rows of one trial. The harm that a call does is what it does without a gate."""
    rows: list[Row] = []
    async with _temporary_log() as log, open_stage(trial.world, trial.labels(DECLARED)) as stage:
        free = await _run_free(trial, stage, log)
    for how in trial.labellings:
        # A record of its own: a no to a tool is remembered, and it may be listed alike elsewhere.
        async with _temporary_log() as log, open_stage(trial.world, trial.labels(how)) as stage:
            for gate in (one for one in gates if how in one.minds):
                for kind in trial.people if gate.asks_people else (NOBODY,):
                    setting = trial.world.name, gate.name, how, kind
                    counted = await _count(trial, stage, gate, kind=kind, free=free, log=log)
                    rows += [Row(*setting, attack, *one) for attack, one in counted.items()]
    return rows


async def _run_free(trial: Trial, stage: Stage, log: AuditLog) -> Free:
    made: dict[str, tuple[list[Made], Ends]] = {}
    for script in trial.scripts:
        who = person(TIRED, script)
        seen = await play(stage, script, NO_GATE, who=who, log=log)
        made[script.name] = seen, trial.world.ends(script, seen, seen)
    return made


async def _count(
    trial: Trial, stage: Stage, gate: Gate, *, kind: str, free: Free, log: AuditLog
) -> dict[str, tuple[Tally, Counter[str]]]:
    """What was counted, by the attack."""
    counted: dict[str, tuple[Tally, Counter[str]]] = {}
    for script in trial.scripts:
        if not script.attack and kind in (TIRED, WORN):
            continue  # who gives in answers an honest agent as who knows does
        before, ends = free[script.name]
        who = person(kind, script)
        made = await play(stage, script, gate, who=who, log=log)
        both = (ends, trial.world.ends(script, before, made))
        one = tally(script, before, made, ends=both, questions=len(who.questions))
        tools = Counter(tool for tool, _ in changes(script, made, is_unasked=True))
        known, passed = counted.get(script.attack, (Tally(), Counter[str]()))
        counted[script.attack] = known + one, passed + tools
    return counted


@asynccontextmanager
async def _temporary_log() -> AsyncGenerator[AuditLog]:
    """One record for all runs, as an agent's would be: on disk, and synced."""
    with TemporaryDirectory(prefix="sayso-eval-") as folder:
        url = f"sqlite:{folder}/sayso.db"
        store = open_store(url)
        try:
            keys = load_keys(store_path(url), is_made=True)
            async with open_audit(store, keys) as log:
                yield log
        finally:
            await store.close()
