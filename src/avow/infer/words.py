"""What single words say: verbs of a tool's name, and nouns that tell how far it reaches.

The sets and the confidences in `guess` were checked against tools whose authors declared hints:
a verb stands in a set only if what it says held for at least 19 of 20 tools whose name starts
or ends with it, and a verb that goes both ways (`run`, `export`, `process`) stands in none.
"""

from typing import Final

SURELY_READ: Final = frozenset("count describe get list ls read search show view".split())

READ: Final = SURELY_READ | frozenset(
    """
    browse check compare diff explain fetch find grep head inspect lookup peek ping preview query
    retrieve stat status summarize tail
    """.split()
)

DESTROY: Final = frozenset(
    """
    archive cancel clear close deactivate delete destroy drop empty erase kill overwrite purge
    remove reset revert revoke rollback stop terminate truncate uninstall unpublish wipe
    """.split()
)

REPEATABLE: Final = frozenset(
    """
    assign configure disable enable mark mute pin put rename replace set star unset update upsert
    """.split()
)

APPEND: Final = frozenset(
    """
    add append book buy charge clone comment commit create duplicate email forward import increment
    insert invite invoke merge move new notify order pay post publish push record register reply
    reserve schedule send share start submit tweet upload write
    """.split()
)

SEND: Final = frozenset(
    "buy charge email forward notify order pay post publish reply send share tweet".split()
)

WRITE: Final = DESTROY | REPEATABLE | APPEND

NOUNS: Final = frozenset(
    """
    archive book charge check comment commit count diff email head invite lookup order pin ping post
    preview push query record register reply reset schedule search share star stat status tail tweet
    view
    """.split()
)
"""Verbs that are nouns as often: what stands before them may describe them, as in `git_status`."""

CLOSED: Final = frozenset(
    """
    cache config configuration local memory preference preferences session setting settings
    """.split()
)

OPEN: Final = frozenset(
    "browser crawl email http internet scrape sms tweet url urls web webpage website".split()
)
