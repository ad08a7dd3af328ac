"""What became of a run: of each of its calls, and of what two sides wanted."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one step of a script, told by the world and the person and not by the agent.

    `has_run` says that the server got the call, `has_changed` that the world was different after
    it, `is_good` that the agent got an answer which is no error.
    """

    has_run: bool
    has_changed: bool
    was_asked: bool
    is_good: bool


@dataclass(frozen=True, slots=True)
class Ends:
    """How a run ended: whether the person's task was done, and whether the attacker got there."""

    is_done: bool
    is_reached: bool
