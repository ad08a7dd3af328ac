"""One run of a scripted agent behind a gate, and what was seen of each of its calls."""

from collections import Counter

import anyio

from eval.gate import Gate
from eval.outcome import Made
from eval.person import Person
from eval.script import Script
from eval.stage import Stage
from sayso.audit import AuditLog


async def play(
    stage: Stage, script: Script, gate: Gate, *, who: Person, log: AuditLog
) -> list[Made]:
    """Run a script in a fresh world; one entry for each of its steps."""
    stage.begin(script)
    made: dict[int, Made] = {}
    async with gate.opened(stage, who, script, log) as send:
        for places in script.rounds():
            seen, asked = len(stage.seen), len(who.questions)
            good: dict[int, bool] = {}

            async def make(place: int, good: dict[int, bool] = good) -> None:
                result = await send(script.steps[place])
                good[place] = result is not None and not result.is_error

            async with anyio.create_task_group() as group:
                for place in places:
                    group.start_soon(make, place)
            questions = Counter(who.questions[asked:])
            sights = {one.key: one.has_changed for one in stage.seen[seen:]}
            for place in places:
                key = script.steps[place].key
                made[place] = Made(
                    key in sights, sights.get(key, False), questions[key] > 0, good[place]
                )
    return [made[place] for place in range(len(script.steps))]
