"""Names as clients see them, in places where a tool goes by its server's own name."""

import pytest

from sayso.policy import load_policy, misnamed

RULE = '[[rules]]\nname = "r"\neffect = "deny"\n'


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (RULE + 'when = { tool = "git__push" }', "the rule “r” (p, line 1)"),
        (RULE + 'when = { tool = ["get", "git__push"] }', "the rule “r” (p, line 1)"),
        (RULE + 'unless = { tool = "git__push" }', "the rule “r” (p, line 1)"),
        (RULE + 'when = { after = { tool = "git__push" } }', "the rule “r” (p, line 1)"),
        ("[operator.git]\ngit__push = { destructive = true }", "“operator.git” (p)"),
        ('[first_use.git]\ngit__push = "confirm"', "“first_use.git” (p)"),
        ('[dry_run.git]\ngit__push = "dryRun"', "“dry_run.git” (p)"),
        ("[max_result_characters.git]\ngit__push = 900", "“max_result_characters.git” (p)"),
    ],
)
def test_a_name_behind_the_gateway_is_told(text: str, place: str) -> None:
    (told,) = misnamed(load_policy(text, "p"), ["crm", "git"])
    assert told == (
        f"{place} names a tool “git__push”: a policy uses the server's own tool names; "
        'write server = "git", tool = "push"'
    )


def test_a_glob_behind_a_server_is_told_too() -> None:
    (told,) = misnamed(load_policy(RULE + 'when = { tool = "git__*" }'), ["git"])
    assert 'server = "git", tool = "*"' in told


@pytest.mark.parametrize("tool", ["push", "legit__push", "hub__push", "x-git__push"])
def test_other_names_are_not(tool: str) -> None:
    policy = load_policy(
        RULE + f'when = {{ tool = "{tool}", arguments = {{ "git__x" = {{ equals = 1 }} }} }}'
    )
    assert misnamed(policy, ["git"]) == []
    assert misnamed(policy, []) == []
