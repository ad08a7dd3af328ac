"""What is shown of a server holds no secret, wherever the entry has it."""

from typing import Any

import pytest

from sayso.clients.masked import difference, masked, reached_by

SECRET = "hunter2-hunter2"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "x", "env": {"A": SECRET}},
        {"url": "https://a.example.com/mcp", "headers": {"X-Any": SECRET}},
        {"url": f"https://a.example.com/mcp?key={SECRET}"},
        {"url": f"https://a.example.com/mcp#{SECRET}"},
        {"url": f"https://amy:{SECRET}@a.example.com/mcp"},
        {"url": f"https://a.example.com/s/{SECRET}0123456789/mcp"},
        {"httpUrl": f"https://a.example.com/mcp?{SECRET}"},
        {"url": f"https://[{SECRET}"},
        {"command": "x", "args": ["--api-key", SECRET]},
        {"command": "x", "args": [f"--api-key={SECRET}"]},
        {"command": "x", "args": ["--key", SECRET, "y"]},
        {"command": "x", "args": [f"API_TOKEN={SECRET}"]},
        {"command": "x", "args": ["-e", f"ANY={SECRET}"]},
        {"command": "x", "args": ["--header", f"X-Any: {SECRET}"]},
        {"command": "x", "args": ["-H", f"X-Any:{SECRET}"]},
        {"command": "x", "args": [f"Authorization: Bearer {SECRET}"]},
        {"command": "x", "args": [f"postgres://amy:{SECRET}@db/x"]},
        {"command": "x", "args": [f"https://a.example.com/mcp?k={SECRET}"]},
        {"command": "x", "args": [f"--url=https://a.example.com/mcp?k={SECRET}"]},
        {"command": "x", "args": [f"--token=https://{SECRET}"]},
        {"command": "x", "args": [f"{SECRET}-hunter2"]},
        {"command": "x", "args": [f"${{KEY:-{SECRET}}}"]},
        {"command": "x", "args": [[SECRET]]},
        {"command": "x", "env": {"A": f"${{KEY:-{SECRET}}}"}},
        {"command": "x", "env": [SECRET]},
        {"command": "x", "oauth": {"clientSecret": SECRET}},
        {"command": "x", "unknown": SECRET},
        SECRET,
        [SECRET],
    ],
)
def test_a_secret_is_masked(entry: Any) -> None:
    assert "hunter2" not in str(masked(entry))
    assert "hunter2" not in " ".join(reached_by(entry))
    assert "hunter2" not in "\n".join(difference({}, {"a": entry}, "mcpServers"))


def test_what_is_no_secret_is_shown() -> None:
    entry = {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/amy/my notes", "--root=."],
        "env": {"A": "${env:TOKEN}", "B": "$TOKEN", "C": ""},
        "timeout": 5,
        "disabled": False,
    }
    assert masked(entry) == entry
    assert reached_by(entry) == (
        "stdio",
        "npx -y @modelcontextprotocol/server-filesystem '/home/amy/my notes' --root=.",
    )
    assert reached_by({"url": "https://a.example.com/mcp"})[1] == "https://a.example.com/mcp"
    assert reached_by({"type": "sse", "url": "https://a.example.com/sse"})[0] == "sse"


def test_of_many_or_long_arguments_only_the_first_are_shown() -> None:
    many = {"command": "x", "args": [f"--n={number}" for number in range(5_000)]}
    _, shown = reached_by(many)
    assert shown.endswith("--n=99 '… 4,900 more'")
    long = {"command": "x", "args": ["a b " * 1_000]}
    assert reached_by(long)[1] == "x •••"
    assert masked(long) == long
