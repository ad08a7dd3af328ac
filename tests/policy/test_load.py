"""Loading a policy: every mistake at once, each with its line; a bad file never replaces a good."""

from pathlib import Path

import pytest
from tests.policy.samples import rule

from sayso.errors import ConfigError, PolicyError, UsageError
from sayso.policy import Mode, Policy, load_policy, reload
from sayso.policy.load import check_policy

RULE = '[[rules]]\nname = "r"\n'
DENY = RULE + 'effect = "deny"\n'


def mistakes(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "p")
    return [str(one) for one in caught.value.errors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mod = 1", "p:1: unknown key “mod”. Did you mean “mode”?"),
        (
            "mode = 1",
            ("p:1: this must be one of observe, plan, guarded, strict, unattended, not a number"),
        ),
        (
            '\nmode = "guardd"',
            (
                "p:2: “guardd” is not one of observe, plan, guarded, strict, "
                "unattended. Did you mean “guarded”?"
            ),
        ),
        (
            'mode = "zzz"',
            (
                "p:1: “zzz” is not one of observe, plan, guarded, strict, "
                "unattended. Known: observe, plan, guarded, strict, unattended."
            ),
        ),
        ("threshold = 2", "p:1: this must be at most 1, not 2"),
        ("threshold = 0.2", "p:1: this must be at least 0.5, not 0.2"),
        ("threshold = nan", "p:1: this must be a number, not nan"),
        ("threshold = true", "p:1: this must be a number, not a boolean"),
        (
            'tools = "serch"',
            "p:1: “serch” is not one of all, search. Did you mean “search”?",
        ),
        (
            'pin = ["crm__list"]',
            (
                "p:1: “pin” has no effect: all tools are listed. "
                'Write tools = "search", or remove “pin”.'
            ),
        ),
        (
            'tools = "search"\npin = [\n"crm__list",\n"list"]',
            (
                "p:4: “list” is not a tool's name behind the gateway. "
                "Put the server's name first: SERVER__list, or *__list."
            ),
        ),
        (
            'tools = "search"\npin = []',
            "p:2: this array must not be empty. Add an item, or remove the key.",
        ),
        ('tools = 1\npin = ["a__b"]', "p:1: this must be one of all, search, not a number"),
        ("trust = 1", "p:1: this must be a table, not a number"),
        (
            '[trust]\n"a*" = "trusted"',
            (
                "p:2: “a*” must be the name of one server. Write "
                "the full name, or “*” for all servers that are not named."
            ),
        ),
        ("[dry_run]\ncrm = true", "p:2: this must be a text, not a boolean"),
        (
            '[dry_run]\n"a*" = "dryRun"',
            (
                "p:2: “a*” must be the name of one server. Write "
                "the full name, or “*” for all servers that are not named."
            ),
        ),
        ("max_result_characters = 100", "p:1: this must be at least 200, not 100"),
        ("max_result_characters = true", "p:1: this must be a whole number, not a boolean"),
        (
            '[max_result_characters]\ncrm = "9000"',
            "p:2: this must be a whole number, not a text",
        ),
        (
            "[max_result_characters.crm]\nget = 20_000_000",
            "p:2: this must be at most 10000000, not 20000000",
        ),
        (
            '[max_result_characters]\n"a*" = 9000',
            (
                "p:2: “a*” must be the name of one server. Write "
                "the full name, or “*” for all servers that are not named."
            ),
        ),
        (
            'first_use = { "a*" = "confirm" }',
            (
                "p:1: “a*” must be the name of one server. "
                "Write the full name, or “*” for all servers that are not named."
            ),
        ),
        (
            "[operator.crm.x]\nread_only = 1",
            "p:2: this must be true or false, not a number",
        ),
        (
            "[operator.crm.x]",
            ("p:1: this table is empty. Known: read_only, destructive, idempotent, open_world."),
        ),
        ("[off]\nservers = 3", "p:2: this must be an array, not a number"),
        ('[off]\nservers = [\n"a",\n""]', "p:4: this must be a text, not empty"),
        ("[limits]\ncalls_per_minute = 1.5", "p:2: this must be a whole number, not 1.5"),
        (
            "[limits]\ncalls_per_minute = { read = 0 }",
            "p:2: this must be at least 1, not 0",
        ),
        (
            '[audit]\nhidden = ["a..b"]',
            (
                "p:2: invalid path 'a..b'. "
                "Use a path such as $.customer.email, $.items[*].iban or $..ssn."
            ),
        ),
        (
            '\nforward_meta = ["acme.com/a", "io.sayso/b"]',
            (
                "p:2: “forward_meta” cannot contain 'io.sayso/b': it is reserved for the protocol, "
                "sayso or a framework. Remove it."
            ),
        ),
        ("rules = 3", "p:1: this must be an array, not a number"),
        (
            '[rules]\nname = "r"',
            "p:1: this must be an array, not a table. Write [[rules]], with two brackets.",
        ),
        ("[tools]\na = 1", "p:1: this must be one of all, search, not a table"),
        ("[limits.targets]\na = 1", "p:1: this must be a whole number, not a table"),
        (
            "[pin]\na = 1",
            "p:1: this must be an array, not a table",
        ),
        ("rules = [3]", "p:1: this must be a table, not a number"),
        (
            RULE,
            "p:1: the key “effect” is missing. Add it: what happens to the call.",
        ),
        (
            DENY + "when = { level = [] }",
            ("p:4: this array must not be empty. Add an item, or remove the key."),
        ),
        (
            DENY + "unless = {}",
            (
                "p:4: this table is empty. Known: level, read_only, "
                "destructive, idempotent, open_world, source, server, tool, category, tag, "
                "subject, scope, role, tenant, client, arguments, meta, after, expression."
            ),
        ),
        (
            DENY + 'expires = "5 min"',
            ("p:4: “5 min” is not a duration such as 45s, 30m, 2h or 1d"),
        ),
        (
            DENY + 'expires = "5m"',
            (
                'p:4: “expires” needs effect = "confirm"; this rule asks no question. '
                'Write effect = "confirm", or remove “expires”.'
            ),
        ),
        (
            DENY + DENY,
            ("p:5: the rule on line 2 has the same name, “r”. Give each rule a unique name."),
        ),
        (
            DENY.replace('"r"', '"mode:strict"'),
            (
                "p:2: the rule name “mode:strict” is reserved for sayso's own decisions. "
                "Choose another name."
            ),
        ),
        (
            RULE + 'effect = "confirm"\nreviewers = { count = 3, subjects = ["a", "b"] }',
            "p:4: 3 people must approve, but only 2 are named. Name more people, or lower “count”.",
        ),
        (
            RULE + 'effect = "hide"\nlimits = { targets = 3 }',
            'p:4: “limits” has no effect in a rule with effect = "hide". Remove it.',
        ),
        (
            RULE + 'effect = "hide"\n[rules.unless]\nafter = { level = "read" }',
            (
                "p:5: a rule that hides cannot use “after”: a tool is hidden before any "
                'call. Write effect = "deny" instead.'
            ),
        ),
        (
            RULE + 'effect = "hide"\n[rules.when.meta]\na = { exists = true }',
            (
                "p:4: a rule that hides cannot use “meta”: a tool is hidden before any "
                'call. Write effect = "deny" instead.'
            ),
        ),
        (
            DENY + '[rules.when.arguments]\n"a..b" = { exists = true }',
            (
                "p:5: the path “a..b” has an empty step. "
                "Separate keys with single dots: customer.id."
            ),
        ),
        (
            DENY + "[rules.when.arguments]\na = { exists = false, equals = 1 }",
            (
                "p:5: exists = false cannot be combined with other conditions. "
                "Remove the other conditions."
            ),
        ),
        (
            DENY + "[rules.when.arguments]\na.range = { min = 2, max = 1 }",
            ("p:5: min must not be larger than max. Swap them."),
        ),
        (
            DENY + "[rules.when.arguments]\na.equals = [{ b = 2026-01-01 }]",
            ("p:5: an argument cannot be a date or a time. Use a text."),
        ),
        (
            DENY + "[rules.when.arguments]\na.equals = inf",
            ("p:5: an argument cannot be inf. Use a text."),
        ),
        ("a = \n", "p:1:5: this is not TOML: invalid value"),
        ("a = b\n", "p:1:5: this is not TOML: invalid value. Put texts in quotes."),
        ("\na = [", "p:2: this is not TOML: invalid value"),
        ("a = 1\na = 2", "p:2: this is not TOML: cannot overwrite a value"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_to_do(text: str, expected: str) -> None:
    assert mistakes(text) == [expected]


def test_a_rule_without_a_name_is_a_mistake_and_the_rest_of_it_is_checked() -> None:
    found = mistakes('[[rules]]\neffect = "deny"\nexpires = "1s"')
    assert [one.split(" ")[0] for one in found] == ["p:1:", "p:3:"]


def test_every_mistake_is_told_at_once_in_the_order_of_the_file() -> None:
    found = mistakes(
        "mod = 1\n[trust]\ncrm = 3\n\"b*\" = 'trusted'\n"
        '[[rules]]\nname = "r"\nwhen = { level = "raed", expression = "nope" }\n'
        '[[rules]]\nname = "r"\neffect = "deny"\nwhen = { arguments = { "a." = { exists = 1 } } }'
    )
    assert [one.split(": ")[0] for one in found] == [
        f"p:{line}" for line in (1, 3, 4, 5, 7, 7, 9, 11, 11)
    ]


def test_several_mistakes_are_one_error_in_words_and_as_data() -> None:
    with pytest.raises(ConfigError) as caught:
        load_policy("a = 1\nb = 2", "p.toml")
    assert str(caught.value).startswith("2 mistakes in the policy:\n  p.toml:1: unknown key")
    assert [one["where"] for one in caught.value.to_dict()["error"]["errors"]] == [
        "p.toml:1",
        "p.toml:2",
    ]
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 100_000,
        DENY + "[rules.when.arguments]\na.equals." + ".".join("b" * 5_000) + " = 1",
    ],
    ids=["brackets", "dots"],
)
def test_a_text_that_is_nested_too_deeply_is_a_mistake(text: str) -> None:
    assert mistakes(text) == ["p: this is nested too deeply"]


@pytest.mark.parametrize("key", ["mode", "max_result_characters", "limits.targets", "a"])
@pytest.mark.parametrize("long", ["9" * 5_000, "9" * 4_000, "0x" + "f" * 5_000, f"[{{b={2**63}}}]"])
def test_an_integer_that_no_toml_holds_is_a_mistake(key: str, long: str) -> None:
    expected = ["p: an integer here is too large for TOML: it has 64 bits"]
    assert mistakes(f"{key} = {long}") == expected


def test_a_byte_order_mark_is_passed_over() -> None:
    assert load_policy("\ufeffmode = 'plan'").mode is Mode.PLAN


def test_an_empty_policy_is_the_default() -> None:
    assert load_policy("", "policy") == Policy()


def test_a_bad_file_does_not_replace_a_good_policy() -> None:
    good, error = reload(Policy(), 'mode = "strict"', "policy.toml")
    assert (good.mode, error) == (Mode.STRICT, None)
    kept, error = reload(good, 'mode = "strikt"', "policy.toml")
    assert kept is good
    assert error is not None
    assert error.where == "policy.toml:1"


def test_policies_that_say_the_same_are_equal() -> None:
    assert load_policy(rule("deny", 'tool = "x*"')) == load_policy(rule("deny", 'tool = "x*"'))


@pytest.mark.parametrize("given", [None, Policy(), "policy.toml", Path("policy.toml")])
def test_a_policy_its_path_or_none_is_taken(given: object) -> None:
    check_policy(given, where="bind")


def test_anything_else_is_refused_where_it_was_given() -> None:
    with pytest.raises(UsageError, match=r"Policy or the path of a policy\.toml, got int") as told:
        check_policy(7, where="bind")
    assert told.value.where == "bind"
