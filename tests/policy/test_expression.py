"""CEL: checked when loaded, bounded when run, and closed whenever it cannot tell."""

import builtins
import re
import sys
import time
from typing import Any

import pytest
from tests.policy.samples import AMY, call, facts, policy, rule, says

from sayso.errors import PolicyError
from sayso.extras import install_command
from sayso.policy import is_visible
from sayso.policy.expression import ExpressionError, expression_condition

EFFECTS = ("confirm", "deny", "hide")


def quoted(expression: str) -> str:
    return f"expression = '''{expression}'''"


def matches(effect: str, expression: str, **more: Any) -> bool:
    return says(rule(effect, quoted(expression)), call("read", **more)) == "r"


@pytest.mark.parametrize(
    ("expression", "is_true"),
    [
        ('level == "read" && read_only && !destructive', True),
        ('tool.startsWith("customer_") && server == "crm"', True),
        ('subject == "amy" && client == "chat" && "staff" in roles', True),
        ('"crm.write" in scopes || size(tags) > 0', False),
        ('sources.read_only == "declared" && category == ""', True),
        ("arguments.amount > 100 && !first_use", True),
        ("has(arguments.nothing)", False),
        ("targets > 3", True),
        ('arguments.name.matches("^a+$")', True),
        ('arguments.name == "x.map(y, z)" // .all( is a word here', False),
    ],
)
def test_an_expression_sees_the_call(expression: str, *, is_true: bool) -> None:
    about = {"arguments": {"amount": 101, "name": "aaa"}, "targets": 4}
    assert matches("allow", expression, **about) is is_true
    assert matches("deny", expression, **about) is is_true


@pytest.mark.parametrize(
    "expression",
    [
        "arguments.nothing > 1",
        "arguments.text > 1",
        "1 / (size(arguments) - size(arguments)) > 0",
        "targets > 3",
        "arguments.huge > 1",
        'arguments.text.matches("(")',
        "arguments.odd == 1 || arguments.nothing",
        "arguments.list[7] == 1",
        'arguments.surrogate == "x"',
    ],
)
def test_what_does_not_come_to_true_or_false_never_permits(expression: str) -> None:
    odd = {"text": "x", "huge": 2**70, "odd": object(), "list": [1], "surrogate": "\ud800"}
    assert not matches("allow", expression, arguments=odd)
    assert matches("deny", expression, arguments=odd)
    assert matches("confirm", expression, arguments=odd)
    text = rule("deny", "", unless=quoted(expression))
    assert says(text, call("read", arguments=odd)) == "r"
    text = rule("allow", "", unless=quoted(expression))
    assert says(text, call("read", arguments=odd)) == "mode:guarded"


@pytest.mark.parametrize(
    "expression",
    [
        "arguments.l.all(a, arguments.l.all(b, a + b >= 0))",
        "arguments.l.exists(a, true)",
        "arguments.l . exists_one (a, true)",
        "arguments.l.map(a, a).size() > 0",
        "arguments.l. // a comment\n filter(a, true) == []",
        "[1, 2].all(a, a > 0)",
        'r"\\".map(x, x) == "" || arguments.l.all(a, true)',
        "'''a''' == 'b' || arguments.l.map(a, a) == []".replace("'''", '"""'),
    ],
)
def test_an_expression_that_loops_is_refused_when_loaded(expression: str) -> None:
    with pytest.raises(PolicyError, match="is a loop"):
        policy(rule("deny", quoted(expression)))


def test_a_loop_that_were_overlooked_would_be_ended_by_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sayso.policy import expression

    monkeypatch.setattr(expression, "_LOOP", re.compile("(?!)"))
    loops = "arguments.l.all(a, arguments.l.all(b, a + b >= 0))"
    assert not matches("allow", loops, arguments={"l": list(range(1000))})
    assert matches("deny", loops, arguments={"l": list(range(1000))})


@pytest.mark.parametrize(
    ("expression", "arguments"),
    [
        ("arguments == arguments", {"l": list(range(20_000))}),
        ("arguments.s + arguments.s != ''", {"s": "a" * 10_000_000}),
        ("arguments == arguments", {"a" * 200_000: 1}),
        ("arguments == arguments", "deep"),
    ],
)
def test_arguments_that_are_too_large_are_not_shown_to_an_expression(
    expression: str, arguments: Any
) -> None:
    if arguments == "deep":
        arguments = {"a": 1}
        for _ in range(200):
            arguments = {"a": [arguments]}
    start = time.perf_counter()
    assert not matches("allow", expression, arguments=arguments)
    assert matches("deny", expression, arguments=arguments)
    assert time.perf_counter() - start < 5


def test_the_dearest_expression_over_the_largest_arguments_ends_soon() -> None:
    arguments = {"l": [[1] * 90] * 100, "s": "ab" * 45_000}
    terms = ["arguments.l == arguments.l", 'arguments.s.matches("(a|b)*(ba|c)*$")']
    expression = " && ".join([*terms, *terms, *terms] * 6)
    start = time.perf_counter()
    assert matches("allow", expression, arguments=arguments)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('when = { expression = "levl == 3" }', "policy.toml:4: CEL: undeclared reference to "),
        ('when = { expression = "level == 3" }', "policy.toml:4: CEL: found no matching overload"),
        (
            'when = { expression = "level" }',
            "policy.toml:4: the expression must return true or false",
        ),
        ('[rules.when]\nexpression = """\nread_only\n&& nope"""', "policy.toml:7: CEL: undeclared"),
        ("[rules.when]\nexpression = '''read_only\n&& nope'''", "policy.toml:6: CEL: undeclared"),
        ("[rules.when]\nexpression = '''\nnope'''", "policy.toml:6: CEL: undeclared"),
        ("[rules.when]\nexpression = '''nope'''", "policy.toml:5: CEL: undeclared"),
        ("[rules.when]\nexpression = '''\ntrue &&\n[1].all(a, true)'''", "policy.toml:7: “all”"),
        (f"when = {{ expression = '{'(' * 100}true{')' * 100}' }}", "policy.toml:4: CEL: "),
        (f"when = {{ expression = '{'-' * 3000}1 == 1' }}", "policy.toml:4: the expression is lo"),
        (f"when = {{ expression = 'arguments{'.a' * 90} == 1' }}", "policy.toml:4: CEL: Exceeded"),
    ],
)
def test_a_wrong_expression_is_told_with_its_line_when_loaded(text: str, expected: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(f'[[rules]]\nname = "r"\neffect = "deny"\n{text}')
    assert str(caught.value).startswith(expected)


def test_a_rule_that_hides_sees_no_call() -> None:
    with pytest.raises(PolicyError, match="undeclared reference to 'arguments"):
        policy(rule("hide", quoted("arguments.x == 1")))
    hidden = policy(rule("hide", quoted('tool.startsWith("customer_")')))
    assert not is_visible(hidden, AMY, facts())
    unknown = policy(rule("hide", quoted('1 / size(category) > 0 || tool == "x"')))
    assert not is_visible(unknown, AMY, facts())


def test_without_the_extra_an_expression_is_a_mistake_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sayso.policy import expression

    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name == "cel_expr_python":
            raise ImportError(name)
        return real(name, *rest, **more)

    expression._environment.cache_clear()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(PolicyError, match=re.escape(install_command("cel"))):
        policy(rule("deny", quoted("read_only")))


@pytest.mark.process
def test_the_engine_is_imported_only_for_an_expression() -> None:
    import subprocess

    code = (
        "import sys, sayso.policy as p; p.load_policy(''); print('cel_expr_python' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"


def test_an_engine_that_fails_without_saying_where_is_told_all_the_same() -> None:
    with pytest.raises(ExpressionError, match="CEL: "):
        expression_condition("\x00")


def test_a_condition_says_what_it_came_to() -> None:
    one = expression_condition("arguments.x == 1")
    assert one.actual(call(arguments={"x": 1})) == "true"
    assert one.actual(call(arguments={"x": 2})) == "false"
    assert one.actual(call()) == "unknown"
