"""Cues: phrases in a description that suggest a tool's hints."""

import re
from typing import Final, NamedTuple


class Cue(NamedTuple):
    """One cue with its phrases; the pattern is tried only if the text contains one of `words`."""

    name: str
    words: frozenset[str]
    pattern: re.Pattern[str]


def _cue(name: str, words: str, pattern: str) -> Cue:
    return Cue(name, frozenset(words.split()), re.compile(rf"\b(?:{pattern})\b"))


CUES: Final = (
    _cue(
        "undo",
        "undone reversed recovered restored irreversible irreversibly undo reversible"
        " unrecoverable unrecoverably",
        r"(?:cannot|can['’]t|can not) be (?:undone|reversed|recovered|restored)"
        r"|irreversibl[ey]|no undo|not reversible|unrecoverabl[ey]",
    ),
    _cue("for ever", "permanent permanently forever", r"permanent(?:ly)?|forever"),
    _cue("read-only", "read readonly", r"read[- ]?only"),
    _cue(
        "changes nothing",
        "not doesn't doesn’t don't don’t without never no",
        r"(?:does not|doesn['’]t|do not|don['’]t|without|never|no) (?:\w+ ){0,2}?"
        r"(?:modif\w+|chang\w+|writ\w+|creat\w+|execut\w+|affect\w*|side effects?|mutat\w+)",
    ),
    _cue("idempotent", "idempotent", r"idempotent"),
    _cue(
        "replaces",
        "overwrite overwrites overwriting overwritten replace replaces replacing replaced"
        " replacement entire entirely wholesale put discard discards discarded lost omitted full"
        " desired",
        r"overwrit\w+|replac\w+|entire|wholesale|put|complete desired|full (?:\w+ )?update"
        r"|discard\w*|lost|omitted",
    ),
    _cue(
        "replaces all",
        "replace replaces replacing replaced replacement overwrite overwrites overwriting"
        " overwritten complete must",
        r"(?:full|put|strict|whole|complete|entire)\W(?:\w+\W){0,2}(?:replac\w+|overwrit\w+)"
        r"|replac\w+ (?:\w+ ){0,2}(?:entire|whole|existing|all|content)"
        r"|complete (?:desired|new|list|set|definition|replacement)"
        r"|must (?:include|contain|provide) (?:all|every)"
        r"|must be (?:the |a )?(?:complete|full|whole)",
    ),
    _cue(
        "changes a part",
        "partial partially only fields field patch unchanged preserved provided kept additive"
        " incremental merge merged merges increment increments",
        r"partial\w*|only (?:the )?(?:fields? )?"
        r"(?:provided|specified|given|supplied|changed|sent|included)"
        r"|fields? to (?:update|change)|provided (?:fields|properties|values)|patch|unchanged"
        r"|preserved|kept|additive|incremental|merge[sd]?|increments?",
    ),
    _cue(
        "warns",
        "destructive dangerous danger warning caution careful carefully risk risky",
        r"destructive|danger\w*|warning|caution|careful\w*|risky?",
    ),
    _cue("confirm", "confirm confirms confirmed confirmation confirming", r"confirm\w*"),
    _cue("new", "new", r"new"),
    _cue(
        "creates or updates",
        "exist exists update updates upsert upserts",
        r"if (?:it )?(?:does not|doesn['’]t) (?:already )?exist|already exists?"
        r"|(?:or|and) updates?|upserts?",
    ),
    _cue("existing", "existing", r"existing"),
    _cue("dry run", "dry dryrun preview", r"dry[- _]?run|preview"),
    _cue(
        "the web",
        "web internet url urls online website websites http",
        r"web|internet|urls?|online|websites?|http",
    ),
    _cue(
        "people",
        "email emails mail mails e-mail sms recipient recipients phone customer publicly public",
        r"e?-?mails?|sms|recipients?|phone|customer|public(?:ly)?",
    ),
    _cue(
        "live",
        "live production publish publishes published publishing deploy deploys deployed deployment",
        r"live|production|publish\w*|deploy\w*",
    ),
    _cue(
        "returns",
        "return returns retrieve retrieves retrieved response retrieving",
        r"returns?|retriev\w+|response",
    ),
    _cue(
        "runs anything",
        "arbitrary any execute executes executing run runs",
        r"arbitrary|any (?:\w+ )?(?:command|code|script|query|sql|method)"
        r"|(?:execut\w+|runs?) (?:an? |the |any |given )?(?:\w+ )?"
        r"(?:commands?|code|scripts?|sql|javascript|python|shell)",
    ),
    _cue("select", "select", r"select\b.{0,20}(?:only|quer)|only select"),
    _cue(
        "can be undone",
        "restored undone recovered reverted undeleted soft reversible recoverable trash recycle",
        r"can be (?:restored|undone|recovered|reverted|undeleted)|soft[- ]delete\w*|reversible"
        r"|recoverable|trash|recycle",
    ),
    _cue(
        "in the background",
        "job jobs async asynchronous asynchronously poll polling background queue queued",
        r"jobs?|async\w*|poll\w*|background|queued?",
    ),
    _cue(
        "saves",
        "save saves saved saving file disk path download downloads",
        r"sav(?:e|es|ed|ing) (?:\w+ ){0,4}(?:to|in|into)"
        r"|to (?:a |the )?(?:local )?(?:file|disk|path)|downloads?",
    ),
    _cue(
        "a session",
        "session page focused browser tab simulator",
        r"session|current page|focused|browser|tab|simulator",
    ),
)
