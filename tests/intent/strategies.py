"""Evidence from servers, receipts, operators and guesses, for tables and property tests."""

from typing import Any

from hypothesis import strategies as st

from sayso.intent import HINT_NAMES, META_KEY, WIRE_NAMES, Evidence, Guess, Hints, Intent, Verdict


def hints(row: str) -> Hints:
    """Four hints as one row of a table: `T`, `F` or `-` for each."""
    return Hints(*({"T": True, "F": False, "-": None}[sign] for sign in row))


NAMES = st.sampled_from(HINT_NAMES)
TRISTATES = st.sampled_from([True, False, None])
HINTS = st.builds(
    Hints,
    read_only=TRISTATES,
    destructive=TRISTATES,
    idempotent=TRISTATES,
    open_world=TRISTATES,
)

# Around both thresholds, where a wrong comparison shows.
CONFIDENCES = st.sampled_from([0.0, 0.5, 0.89, 0.9, 0.91, 0.97, 0.98, 0.99, 1.0])
GUESSES = st.dictionaries(NAMES, st.builds(Guess, st.booleans(), CONFIDENCES))
_VERDICTS: list[Verdict] = ["refuted", "supported", "not_exercised"]
VERDICTS = st.dictionaries(NAMES, st.sampled_from(_VERDICTS))
EVIDENCE = st.builds(Evidence, declared=HINTS, inferred=GUESSES, verdicts=VERDICTS, operator=HINTS)

TEXTS = st.text(max_size=12)
SAID = TEXTS.filter(lambda text: text.strip() != "")
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)

INTENTS = st.builds(
    Intent,
    hints=HINTS,
    title=st.none() | SAID,
    category=st.none() | SAID,
    tags=st.frozensets(TEXTS, max_size=3),
    scopes=st.frozensets(TEXTS, max_size=3),
    roles=st.frozensets(TEXTS, max_size=3),
    confirm=st.none() | SAID,
)

# Mostly of the right shape, so that what stands inside is reached; else anything at all.
ANNOTATIONS = (
    st.fixed_dictionaries(
        {}, optional={wire: st.booleans() | JSON for wire in [*WIRE_NAMES.values(), "title"]}
    )
    | OBJECTS
    | JSON
)
METAS = st.fixed_dictionaries({}, optional={META_KEY: OBJECTS | JSON, "other": JSON}) | JSON
TOOLS = st.fixed_dictionaries(
    {},
    optional={
        "name": SAID | JSON,
        "title": JSON,
        "description": TEXTS | JSON,
        "inputSchema": OBJECTS,
        "annotations": ANNOTATIONS,
        "_meta": METAS,
        "x-unknown": JSON,
    },
)
