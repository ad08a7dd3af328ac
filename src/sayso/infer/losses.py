"""Words of loss: verbs for ending or destroying something, in all forms, and their nouns.

The lexicon has the verbs that tools use for their own actions (`delete`, `purge`). These are the
other English ones, for texts about parameters, values and results.
"""

from functools import lru_cache
from typing import Final

from sayso.infer.grammar import NOMINALS, words_of
from sayso.infer.lexicon import KINDS, verb_of
from sayso.infer.script import is_participle, stems

_LOSSES: Final = words_of(
    """
    abolish abrogate annihilate assassinate axe banish blot bulldoze burn butcher cannibalise
    cannibalize chuck confiscate crush cull debar decapitate decimate deface delist demolish
    deplete deport depose despoil detonate devastate disassemble disband disintegrate dislodge
    dismantle dispossess ditch eject eliminate eradicate eviscerate exhaust expel expropriate
    expunge exterminate extinguish extirpate forfeit forgo gut immolate incinerate jettison
    junk liquidate lose massacre murder mutilate nuke nullify obliterate oust overthrow perish
    pulverise pulverize quash raze relinquish repossess rescind retract rid ruin sabotage sack
    sacrifice scrap scrub shred slaughter slay smash smother squander strangle suffocate
    surrender throw torch toss trash uproot vacate vanish vaporise vaporize void wreck yank
    zap
    """
)
_IRREGULAR: Final = frozenset({"shredded", "slain", "slew", "thrown", "threw"})
_OF_VALUES: Final = frozenset(
    {"cancel", "clear", "close", "drop", "empty", "expire", "force", "invalidate"}
    | {"leave", "merge", "reset", "strip", "truncate"}
)
"""Verbs that descriptions of parameters use for values: `leave empty for all`."""
_AGENTS: Final = ("er", "or")


def only_destroys(word: str) -> bool:
    """Return whether a word is a form of a purely destructive verb that is not used for values.

    >>> only_destroys("purges"), only_destroys("deleted"), only_destroys("clear")
    (True, True, False)
    """
    verb = verb_of(word)
    return verb is not None and KINDS[verb] == ("destroy",) and verb not in _OF_VALUES


@lru_cache(maxsize=8192)
def is_loss(word: str) -> bool:
    """Return whether a word that tools do not use for their actions means a loss.

    >>> is_loss("shredding"), is_loss("eraser"), is_loss("deleted"), is_loss("note")
    (True, True, False, False)
    """
    if word in _IRREGULAR or not _LOSSES.isdisjoint(stems(word)):
        return True
    return word.endswith(_AGENTS) and any(map(only_destroys, stems(word)[1:]))


def is_lost(word: str) -> bool:
    """Return whether a word is any form of a destructive verb, or its noun."""
    return only_destroys(word) or is_loss(word) or word in NOMINALS


def is_order_to_lose(word: str) -> bool:
    """Return whether a word is a destructive order: `delete`, but not `deleted`."""
    return is_loss(word) or (only_destroys(word) and verb_of(word) == word)


def is_done_loss(word: str) -> bool:
    """Return whether a word is a participle of a destructive verb: `removed`."""
    return is_participle(word) and (only_destroys(word) or is_loss(word))
