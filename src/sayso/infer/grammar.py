"""Closed classes of English words, and verbs that change nothing.

These classes do not grow: a word outside them that is not a known verb or noun may be an action
(`infer.clauses`).
"""

from typing import Final


def words_of(text: str) -> frozenset[str]:
    """Split a literal into a set of words."""
    return frozenset(text.split())


DETERMINERS: Final = words_of(
    "a an the this that these those each every all any some no my your his its our their another"
    " both either neither what whatever which whichever whose such one more most many much few"
    " several other others same"
)
OBJECTS: Final = words_of(
    "it them him her us me itself themselves everything anything something those these what"
    " whatever all any each both one"
)
"""Words that may follow a verb as its object, and rarely follow a noun."""
TAKERS: Final = DETERMINERS | OBJECTS
"""A noun in front of one of these is a verb: `page the engineer`."""
SUBJECTS: Final = words_of(
    "it this that which who we you they i tool function command call operation action method"
    " endpoint api server service request"
)
PREPOSITIONS: Final = words_of(
    "about above across after against along among around as at before behind below beneath beside"
    " between beyond by despite during for from in inside into like near of off on onto out over"
    " per since through throughout toward towards under until up upon versus via vs with within"
    " without unlike than regarding concerning including excluding given based"
)
JOINTS: Final = words_of("and or but then nor plus so yet also and/or &")
CONDITIONS: Final = words_of(
    "if when where while because whether unless once though although whereas how why whenever"
    " wherever"
)
MODALS: Final = words_of("can could may might must shall should will would cannot to please let's")
BE: Final = words_of("am are is be being gets get getting got becomes become")
WAS: Final = words_of("was were been had has have having")
NEGATORS: Final = words_of(
    "not never no without nor cannot don't doesn't isn't won't can't aren't nothing none non"
    " neither hardly barely scarcely didn't hasn't wouldn't"
)
ADVERBS: Final = words_of(
    "also then just only always immediately automatically afterwards afterward optionally either"
    " both even now again too very more most less least still already often sometimes usually"
    " first second third next last finally currently directly exactly here there however therefore"
    " instead rather together otherwise etc e.g i.e eg ie not never quite well yet once back ahead"
    " further later soon today yesterday tomorrow thus hence furthermore moreover"
)
REST: Final = words_of(
    "yes none null true false do does did doing done than not nothing nobody everyone anyone who"
    " whom myself yourself ok okay vs am pm new old own able null nil na n/a"
)
CONSEQUENCES: Final = words_of(
    "afterwards afterward thereafter thereupon subsequently anymore gone"
)
"""Words that introduce a further effect."""
AFTERMATH: Final = words_of("except unless besides aside apart otherwise instead behind")
"""Words that introduce an exception."""

STATIVES: Final = words_of(
    """
    accept allow answer appear apply assume become begin believe belong combine compare consider
    consist contain correspond cover decide default denote depend derive determine differ equal
    ensure exceed exist expect explain fail figure fit follow give guide have help highlight
    imply include indicate infer know lack learn let limit look make match matter mean mention
    need note obtain occur offer omit outline pass permit prefer present provide pull range receive
    refer relate remain remember represent require reside respect respond reveal satisfy seem serve
    specify start suggest supply support surface tell treat understand use useful utilize vary want
    work yield narrow paginate cite iterate browse combine rely interpret gather consult access
    encounter visit identify troubleshoot investigate correlate aggregate nest choose avoid
    reach continue carry span fall come attempt expose traverse drill cap warn entail reduce
    minimize restrict qualify miss adjust survey scope pinpoint proceed favor favour arrive consume
    accommodate encapsulate undergo emphasize illustrate clarify justify resemble coincide signify
    convey depict portray originate constrain confine clamp broaden deduplicate disambiguate
    distinguish differentiate contrast approximate deduce conclude assert discuss advise encourage
    discourage wrap pair chain skip repeat reattempt echo recap weigh behave happen last elapse
    exhibit overlap resort rest speak talk listen wonder care hope intend aim address
    maintain navigate inspire try collect pick incorporate involve accomplish
    """
)
"""Verbs of states, of returning and of the reader's actions, which change nothing."""

SOFT: Final = words_of("accept allow exclude handle ignore include remember select")
"""Verbs that write as an order; other forms mostly describe accepted input."""
ALSO_NOUNS: Final = words_of(
    "set run update merge call access change apply fix sync select include clean clear complete"
    " empty open command trigger"
)
"""Writing verbs that are also nouns after another noun: `a result set`."""
PRONOUNS: Final = words_of("it this that which who we you they i he she")

PARTICIPLES: Final = words_of(
    """
    blown broken built burned burnt cut done drawn eaten flung forgotten forsaken frozen ground
    hidden laid left lent lost made overridden overwritten paid put rebuilt redone rewritten rid run
    sent set shed shut slain sold spent split stolen struck stricken sunk swept taken thrown torn
    undone withdrawn worn written
    """
)
"""Irregular participles."""

RESULTS: Final = words_of(
    "result response output filter parameter argument query access option default value window"
    " pagination page format field property attribute limit time date text order wildcard range"
    " name format series timestamp call cursor input"
)
"""Parts of a request or a result: `Results are cut` changes nothing that is stored."""
READ_NOUNS: Final = words_of(
    "query queries search searches lookup check checks aggregation analysis research inspection"
    " comparison validation calculation diagnosis scan read-only readonly evaluation audit"
    " retrieval analyzer diagnostic diagnostics select"
)
"""Nouns for an act that changes nothing."""
NOMINALS: Final = words_of(
    "removal deletion revocation cancellation termination eviction erasure disposal invalidation"
    " destruction cleanup clean-up rotation closure purge wipe reset reboot restart shutdown"
    " rollback teardown pruning truncation expulsion overwrite replacement archival refund"
    " suspension reassignment housekeeping annihilation obliteration eradication"
)
"""Nouns for an act that writes."""
BRINGERS: Final = words_of(
    "with plus by performs perform does do causes cause faces face undergoes undergo subject awaits"
    " await triggers trigger prompts prompt means mean ensues involves involve includes include"
    " incurs incur suffers suffer entails entail brings bring"
)
"""Words before a noun of `NOMINALS` that say that the act happens."""
KEEPS: Final = words_of(
    "keep keeps kept keeping retain retains retained retaining preserve preserves preserved"
    " preserving spare spares spared sparing survive survives survived surviving"
)
"""Verbs whose negation is a loss: `does not keep what it finds`."""

CLOSED: Final = (
    PRONOUNS
    | DETERMINERS
    | OBJECTS
    | PREPOSITIONS
    | JOINTS
    | CONDITIONS
    | MODALS
    | BE
    | WAS
    | NEGATORS
    | ADVERBS
    | REST
    | words_of("found shown seen held known given understood meant chosen")
)
