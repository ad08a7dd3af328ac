"""Cases: what a policy is expected to decide."""

import pytest
from tests.policy.samples import policy

from sayso.errors import PolicyError
from sayso.policy import load_cases, run_case

POLICY = """
mode = "guarded"
first_use = { mail = "confirm" }
[trust]
mail = "untrusted"
[operator.crm."*_list"]
read_only = true
[limits]
calls_per_minute = { write = 2 }
targets = 5
[[rules]]
name = "flow"
effect = "deny"
when = { level = "destructive", after = { open_world = true } }
[[rules]]
name = "hidden"
effect = "hide"
when = { tag = "secret" }
unless = { role = "lead" }
[[rules]]
name = "own"
effect = "allow"
when = { arguments = { owner = { equals = "amy" } }, subject = "amy", client = "chat" }
"""
CASES = """
[[cases]]
name = "the operator says that lists read"
expect = "allow"
rule = "mode:guarded"
tool = { server = "crm", name = "customer_list" }

[[cases]]
name = "after the open world nothing is destroyed"
expect = "deny"
rule = "flow"
tool = { server = "crm", name = "customer_delete", destructive = true }
history = [{ server = "web", name = "get", read_only = true, open_world = true, ago = "5m" }]

[[cases]]
name = "another conversation does not count"
expect = "confirm"
tool = { server = "crm", name = "customer_delete", destructive = true }
history = [{ server = "web", name = "get", same_conversation = false }]

[[cases]]
name = "a secret tool is hidden"
expect = "hide"
rule = "hidden"
tool = { server = "crm", name = "audit_list", tags = ["secret"] }
principal = { roles = ["staff"], scopes = [] }

[[cases]]
name = "what asks for a scope is hidden without it"
expect = "hide"
tool = { server = "crm", name = "x", scopes = ["crm.write"], roles = ["lead"], category = "a" }
principal = { scopes = [] }

[[cases]]
name = "amy may do as she likes with what is hers"
expect = "allow"
rule = "own"
tool = { server = "crm", name = "customer_delete" }
arguments = { owner = "amy" }
principal = { subject = "amy", client = "chat" }

[[cases]]
name = "observed, it would ask"
mode = "observe"
expect = "confirm"
tool = { server = "crm", name = "customer_delete" }

[[cases]]
name = "the first use of mail asks"
expect = "confirm"
rule = "mode:guarded"
first_use = true
tool = { server = "mail", name = "list", read_only = true }

[[cases]]
name = "too many writes"
expect = "deny"
rule = "limits"
recent = { write = 2 }
tool = { server = "crm", name = "set", destructive = false, open_world = false }

[[cases]]
name = "too many targets"
expect = "deny"
rule = "limits"
targets = 6
tool = { server = "crm", name = "set", destructive = false, open_world = false }
"""


def test_cases_come_out_as_a_policy_decides() -> None:
    found = policy(POLICY)
    results = [run_case(found, one) for one in load_cases(CASES)]
    assert {one.case.name: one.faults for one in results if one.faults} == {}
    assert len(results) == 10
    assert results[0].to_dict()["passed"]


def test_a_case_that_comes_out_otherwise_says_how() -> None:
    text = (
        '\n[[cases]]\nname = "x"\nexpect = "allow"\nrule = "own"\n'
        'tool = { server = "crm", name = "customer_delete" }'
    )
    (result,) = (run_case(policy(POLICY), one) for one in load_cases(text))
    assert result.case.line == 2
    assert result.faults == (
        "expected allow, got confirm: it may destroy or overwrite something",
        "expected the rule “own”, got “mode:guarded”",
    )
    assert result.to_dict()["faults"] == list(result.faults)


def test_a_mistake_in_the_cases_is_told_with_its_line() -> None:
    with pytest.raises(PolicyError, match=r"c\.toml:3: unknown key “expects”"):
        load_cases(
            '[[cases]]\nname = "x"\nexpects = "deny"\nexpect = "deny"\n'
            'tool = { server = "a", name = "b" }',
            "c.toml",
        )
    with pytest.raises(PolicyError, match="the key “cases” is missing"):
        load_cases("")
