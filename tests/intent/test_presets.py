"""The table of presets, and what is made of them."""

import pytest
from tests.intent.strategies import hints

import sayso
from sayso.errors import UsageError
from sayso.intent import DELETE, PRESETS, QUERY, READ_ONLY, UPSERT, Hints, Intent, Level, Span

R, W, D = Level.READ, Level.WRITE, Level.DESTRUCTIVE

# The table of the design: read_only, destructive, idempotent, open_world.
TABLE = {
    "READ_ONLY": (True, False, True, False, R),
    "QUERY": (True, False, True, False, R),
    "SEARCH": (True, False, True, False, R),
    "FETCH": (True, False, True, True, R),
    "WRITE": (False, False, True, False, W),
    "UPSERT": (False, False, True, False, W),
    "APPEND": (False, False, False, False, W),
    "DESTRUCTIVE": (False, True, False, False, D),
    "DELETE": (False, True, False, False, D),
    "SEND": (False, True, False, True, D),
    "DEPLOY": (False, True, False, True, D),
}


@pytest.mark.parametrize("name", TABLE)
def test_a_preset_has_the_hints_and_the_level_of_the_table(name: str) -> None:
    preset: Intent = getattr(sayso, name)
    *hints, level = TABLE[name]

    assert preset == Intent(Hints(*hints))
    assert preset.level is level


def test_the_presets_by_name_are_each_value_once() -> None:
    assert set(PRESETS) == {
        "READ_ONLY",
        "FETCH",
        "WRITE",
        "APPEND",
        "DESTRUCTIVE",
        "SEND",
    }
    assert all(PRESETS[name] is getattr(sayso, name) for name in PRESETS)


@pytest.mark.parametrize(
    ("read_only", "destructive", "level"),
    [
        (None, None, D),
        (None, True, D),
        (None, False, W),
        (False, None, D),
        (False, True, D),
        (False, False, W),
        (True, None, R),
        (True, True, R),
        (True, False, R),
    ],
)
def test_the_level_of_an_intent_takes_the_defaults_for_what_is_unset(
    *, read_only: bool | None, destructive: bool | None, level: Level
) -> None:
    assert Intent(Hints(read_only, destructive)).level is level


def test_an_intent_but_for_one_hint_keeps_the_others() -> None:
    assert DELETE.but(idempotent=True).hints == hints("FTTF")
    assert QUERY.but(open_world=True, read_only=None).hints == hints("-FTT")


def test_an_intent_but_for_a_field_keeps_the_rest() -> None:
    first = UPSERT.but(title="Save", scopes=["a"], confirm="Save it?")
    second = first.but(category="files", tags=("x", "x"), roles={"admin"})

    assert second == Intent(
        UPSERT.hints,
        title="Save",
        category="files",
        tags=frozenset({"x"}),
        scopes=frozenset({"a"}),
        roles=frozenset({"admin"}),
        confirm="Save it?",
    )
    assert isinstance(second.tags, frozenset)


def test_all_hints_can_be_replaced_at_once_and_one_of_them_again() -> None:
    assert READ_ONLY.but(hints=Hints(read_only=False), open_world=True) == Intent(
        Hints(read_only=False, open_world=True)
    )


def test_a_preset_is_not_changed_by_what_is_derived_from_it() -> None:
    DELETE.but(idempotent=True, title="Delete customer")

    assert Intent(hints("FTFF")) == DELETE


@pytest.mark.parametrize("value", ["true", 1, 0, [], "banana"])
def test_a_hint_that_is_not_a_boolean_is_refused(value: object) -> None:
    with pytest.raises(UsageError) as caught:
        READ_ONLY.but(idempotent=value)

    assert str(caught.value) == (
        f"Intent.but: idempotent must be True, False or None, not {value!r}"
    )


def test_a_field_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError) as caught:
        READ_ONLY.but(readonly=True)

    assert str(caught.value) == (
        "Intent.but: unknown field 'readonly'. Did you mean 'read_only'? Known fields: "
        "read_only, destructive, idempotent, open_world, category, confirm, dry_run, grant, "
        "narrow, on_error, otherwise, plan, roles, scopes, tags, title, when."
    )
    with pytest.raises(UsageError, match=r"unknown field 'xyzzy'\. Known fields"):
        READ_ONLY.but(xyzzy=True)


@pytest.mark.parametrize("name", ["tags", "scopes", "roles"])
def test_one_text_in_the_place_of_a_set_is_refused_not_taken_apart(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        READ_ONLY.but(**{name: "customers.read"})

    assert str(caught.value) == f"Intent: {name} must be a set of texts, got 'customers.read'"


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("title", 7, "a text, or None"),
        ("plan", "later", "a function, or None"),
        ("grant", "often", "one of once, session, always, or None"),
        ("hints", None, "a Hints"),
        ("tags", 7, "a set of texts"),
        ("scopes", [7], "a set of texts: an item must be a text"),
    ],
)
def test_a_field_of_another_kind_is_refused(name: str, value: object, kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        READ_ONLY.but(**{name: value})
    assert str(caught.value) == f"Intent: {name} must be {kind}, got {value!r}"


def test_a_field_can_be_taken_back_and_a_grant_be_said_by_its_word() -> None:
    assert READ_ONLY.but(title="x").but(title=None).title is None
    assert READ_ONLY.but(grant="once").grant is Span.ONCE
