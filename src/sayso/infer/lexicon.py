"""Verbs by their effect, so that verbs unseen in training count too."""

from functools import lru_cache
from typing import Final

_KINDS: Final = {
    "read": """
        analyse analyze audit browse capture check compare count crawl debug describe detail details
        diagnose diff discover display download dump enumerate examine exists explain explore export
        extract fetch filter find get glob grep head history identify info inspect inventory
        investigate list locate lookup ls match measure monitor observe peek ping poll preview print
        probe query rank read recall report resolve retrieve return review scan scrape search see
        seek select show snapshot stat stats status summarise summarize tail test trace track tree
        view wait watch whoami
        """,
    "compute": """
        annotate ask assess calculate chat classify compute convert correlate decode detect embed
        encode estimate evaluate forecast format generate geocode guess hash infer interpret lint
        multiply parse plan plot predict recognise recognize recommend reflect render score simulate
        sort split suggest think tokenize transcribe transform translate validate verify
        """,
    "add": """
        accumulate add allocate append attach backup book branch build capture checkout clone
        comment commit compose copy craft create define design download draft duplicate enqueue
        export file fork generate import increment ingest init initialise initialize insert install
        instantiate invite issue join log make mint new note onboard open participate post produce
        propose provision push queue react record register remember request reserve save scaffold
        schedule spawn stage start store submit subscribe take track upload vote
        """,
    "set": """
        adjust alter amend annotate assign augment change configure customise customize edit enrich
        expand extend fix map modify move organise organize patch prioritize reassign refine relabel
        rename reorder resize reword revise rotate scale set tune tweak update upgrade
        """,
    "state": """
        accept acknowledge activate allow approve archive ban block close complete connect cordon
        deactivate demote deny detach disable disconnect dismiss enable enroll exclude favorite flag
        focus follow freeze hide hold ignore include label launch link lock login logout mark mount
        mute pause pin promote protect quarantine reactivate reject release reopen resolve restart
        restore resume retry select silence sleep star start stop subscribe suspend switch tag
        toggle trust unarchive unassign unban unblock uncordon undelete unfollow unfreeze unhide
        unlabel unlink unlock unmark unmount unmute unpause unpin unstar unsubscribe untag wake
        """,
    "replace": """
        apply deploy import migrate overwrite override persist put replace save sync synchronise
        synchronize upsert write
        """,
    "destroy": """
        abort annul archive cancel clean cleanup clear close deactivate decommission delete
        deprovision deregister destroy discard drain drop empty erase evict expire finalise finalize
        flush force forget invalidate kick kill leave merge prune purge rebase remove reset revert
        revoke rm rollback shutdown squash strip terminate trash truncate undeploy undo uninstall
        unprotect unpublish unregister unset wipe withdraw
        """,
    "send": """
        announce broadcast buy call charge deliver dispatch email forward invoice mail message
        notify order pay post publish purchase push refund reply respond sell send share sms submit
        text trade transfer tweet
        """,
    "run": """
        call command do eval exec execute handle invoke manage operate perform process run trigger
        """,
    "operate": """
        click doubleclick drag drop fill focus go hover input keypress navigate paste press scroll
        swipe tap touch type
        """,
}


def _by_verb(kinds: dict[str, str]) -> dict[str, tuple[str, ...]]:
    by_verb: dict[str, tuple[str, ...]] = {}
    for kind, verbs in kinds.items():
        for verb in verbs.split():
            by_verb[verb] = (*by_verb.get(verb, ()), kind)
    return by_verb


KINDS: Final = _by_verb(_KINDS)
"""The kinds of each verb; ambiguous verbs have several."""

NOUNS: Final = frozenset(
    """
    attach backup block book branch build call charge check comment commit copy count design
    detail details diff draft email execute export favorite file filter flag focus fork grep
    guess head history image import index info input invite invoice issue join label launch link
    lint list lock log mail map mark match measure message monitor note notice order organize
    pause pin ping plan poll post preview process produce push query queue rank record recall
    release reply report request reserve review scale scan schedule score search sell share
    sleep snapshot sort split stage star start stat state stats status stop store stream
    subscribe summary switch tag tail task test text text think touch trace track trade transfer
    trust tweet type upgrade upload view vote watch
    """.split()
)
"""Verbs that are as often nouns: `note_delete` deletes."""

VERBS: Final = frozenset(
    """
    add append assign browse buy cancel clear clone close compare configure create deactivate delete
    describe destroy disable drop duplicate empty enable erase explain fetch find forward get grep
    import increment insert inspect invoke kill list ls mark merge move mute new notify overwrite
    pay peek publish purge put read remove rename replace reserve retrieve revert revoke rollback
    send set show start stop submit summarize terminate truncate uninstall unpublish unset update
    upload upsert wipe write
    """.split()
)
"""Verbs in any position of a tool's name: `book_delete`, but not `git_status`."""

READS: Final = frozenset({"read", "compute"})
"""The kinds of verbs that may change nothing."""
SURELY_READ: Final = frozenset(
    ["count", "describe", "get", "list", "ls", "read", "search", "show", "view"]
)
"""Verbs that surely read if no other verb of the name writes."""

_ENDINGS: Final = (
    ("ies", ("y",)),
    ("ied", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ing", ("", "e")),
    ("ed", ("", "e")),
)
_SHORTEST_STEM: Final = 3


@lru_cache(maxsize=4096)
def verb_of(word: str) -> str | None:
    """Return the known verb of which a lower-case word is a form, or `None`.

    >>> verb_of("deletes"), verb_of("stopping"), verb_of("replies"), verb_of("customer")
    ('delete', 'stop', 'reply', None)
    """
    if word in KINDS:
        return word
    for ending, others in _ENDINGS:
        stem = word[: -len(ending)]
        if not word.endswith(ending) or len(stem) < _SHORTEST_STEM:
            continue
        bases = [stem + other for other in others]
        if stem[-1] == stem[-2]:
            bases.append(stem[:-1])
        for base in bases:
            if base in KINDS:
                return base
    return None
