"""Runs the linter over the corpus: how often each rule fires, and which findings are judged.

Usage, with the Python of `.venv` and the corpus's folder in `SAYSO_CORPUS` (the one with `hints/`);
without it the script says that it was skipped:

    python training/findings.py counts             how often each rule fires
    python training/findings.py show CODE          the drawn findings of a rule, with their tools
    python training/findings.py check [--write]    whether what was drawn is what was judged; with
                                                   --write the shares go into the package

Of each rule 20 findings are drawn by lot, seeded by its code, or all where there are fewer. What
was judged of them stands in `findings/CODE.jsonl`: the finding by server, tool and what it is
about, `false` for a false alarm, and why. Texts of tools are only shown, and kept nowhere.

What is guessed of a tool is taken from `unseen.jsonl`, where each tool's guesses are those of a
model that has seen no tool of its maker: the one in the package was trained on these very tools.
"""

import argparse
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sayso.infer import guess
from sayso.intent import HINT_NAMES, Guess, HintName
from sayso.lint import Choice, Finding, Report, all_rules, lint, make_listing
from sayso.lint.subject import Listing

SEED: Final = 20261122
DRAWN: Final = 20
FILES: Final = ("tools.jsonl", "more-tools.jsonl", "unannotated.jsonl")
HERE: Final = Path(__file__).resolve().parent
JUDGED: Final = HERE / "findings"
UNSEEN: Final = HERE / "unseen.jsonl"
EVIDENCE: Final = HERE.parent / "src" / "sayso" / "lint" / "evidence.json"
SHOWN: Final = 700
Key = tuple[str, str, str]


def read_servers(corpus: Path) -> dict[str, list[dict[str, Any]]]:
    """The records of each server's tools."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for name in FILES:
        for one in read_lines(corpus / "hints" / name):
            found[one["server"]].append(one)
    return dict(sorted(found.items()))


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The documents of a file that has one on each line."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def entry(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as an entry of `tools/list`; output schemas are not recorded."""
    keys = ("name", "title", "description", "inputSchema", "annotations")
    return {key: record[key] for key in keys if record.get(key) is not None}


def run(servers: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Report]:
    """What every rule finds, those that are off by default too."""
    choice = Choice(all_rules())
    unseen = {one["id"]: one for one in read_lines(UNSEEN)}
    return [lint(listing(name, tools, unseen), choice) for name, tools in servers.items()]


def listing(
    name: str, records: Sequence[Mapping[str, Any]], unseen: Mapping[str, Mapping[str, Any]]
) -> Listing:
    """A server's list, with the guesses of models that have not seen its maker."""
    made = make_listing(name, [entry(one) for one in records])
    for tool, record in zip(made.tools, records, strict=True):
        tool.guesses = guesses(tool.raw, unseen[record["id"]])
        tool.chances = {name: chance(tool.guesses.get(name)) for name in HINT_NAMES}
    return made


def chance(one: Guess | None) -> float:
    """The chance that a hint is true, where something is claimed of it."""
    if one is None:
        return 0.5
    return one.confidence if one.value else 1 - one.confidence


def guesses(tool: Mapping[str, Any], said: Mapping[str, Any]) -> dict[HintName, Guess]:
    """What was guessed of a tool, with the reasons that the package's model has for the same."""
    reasons = {(name, one.value): one.reasons for name, one in guess(tool).items()}
    return {
        name: Guess(said[name][0], said[name][1], reasons.get((name, said[name][0]), ()))
        for name in HINT_NAMES
        if name in said
    }


def findings_of(reports: Sequence[Report]) -> dict[str, dict[Key, Finding]]:
    """The findings of each rule, by server, tool and what they are about."""
    found: defaultdict[str, dict[Key, Finding]] = defaultdict(dict)
    for one in (one for report in reports for one in report.findings):
        found[one.code][one.server, one.tool, one.about] = one
    return dict(found)


def draw(code: str, found: Mapping[Key, Finding]) -> list[Finding]:
    """The findings of a rule that are judged: 20 by lot, or all."""
    keys = sorted(found)
    if len(keys) > DRAWN:
        keys = sorted(random.Random(f"{SEED} {code}").sample(keys, DRAWN))  # noqa: S311 - a lot
    return [found[key] for key in keys]


def show_counts(reports: Sequence[Report]) -> None:
    """Print how often each rule fires, and on how many servers."""
    counts = Counter(one.code for report in reports for one in report.findings)
    servers = {
        code: len({one.server for report in reports for one in report.findings if one.code == code})
        for code in counts
    }
    for rule in all_rules():
        default = "on " if rule.is_default else "off"
        of = servers.get(rule.code, 0)
        row = f"{rule.code} {default} {counts[rule.code]:5} findings, {of:2} servers"
        print(f"{row}  {rule.name}")


def show_drawn(
    code: str, found: Mapping[Key, Finding], servers: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Print the drawn findings of a rule, each with what its tool says of itself."""
    none: Mapping[str, Any] = {}
    for one in draw(code, found):
        raw = next((tool for tool in servers[one.server] if tool["name"] == one.tool), none)
        schema = json.dumps(raw.get("inputSchema", {}).get("properties", {}))
        print(f"=== {one.server}/{one.tool} [{one.about}]\n    {one.message}")
        print(f"    title {raw.get('title')!r}, {raw.get('annotations')}")
        print(f"    {raw.get('description', '')[:SHOWN]!r}\n    {schema[:SHOWN]}")


def judged(code: str) -> list[dict[str, Any]]:
    """What was judged of a rule's findings."""
    file = JUDGED / f"{code}.jsonl"
    return read_lines(file) if file.exists() else []


def check(found: Mapping[str, Mapping[Key, Finding]]) -> Iterator[str]:
    """What was drawn and not judged, or judged and not drawn."""
    for rule in all_rules():
        drawn = {
            (one.server, one.tool, one.about) for one in draw(rule.code, found.get(rule.code, {}))
        }
        known = {(one["server"], one["tool"], one["about"]) for one in judged(rule.code)}
        if rule.is_default and drawn - known:
            yield f"{rule.code}: {len(drawn - known)} drawn and not judged"
        if known - drawn:
            yield f"{rule.code}: {len(known - drawn)} judged and not drawn"


def shares(found: Mapping[str, Mapping[Key, Finding]]) -> dict[str, dict[str, int]]:
    """For the rules' pages: how often each fired, and how that was judged."""
    return {
        rule.code: {
            "found": len(found.get(rule.code, {})),
            "judged": len(judged(rule.code)),
            "false": sum(one["false"] for one in judged(rule.code)),
        }
        for rule in all_rules()
    }


def main() -> int:
    """Do what the words of the command line say."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("counts", "show", "check"))
    parser.add_argument("codes", nargs="*")
    parser.add_argument("--write", action="store_true")
    words = parser.parse_args()
    corpus = os.environ.get("SAYSO_CORPUS")
    if corpus is None:
        print("skipped: SAYSO_CORPUS does not name the corpus's folder")
        return 0
    servers = read_servers(Path(corpus))
    reports = run(servers)
    found = findings_of(reports)
    if words.what == "counts":
        show_counts(reports)
    elif words.what == "show":
        for code in words.codes:
            show_drawn(code, found.get(code, {}), servers)
    else:
        if words.write:
            rows = [f'"{code}": {json.dumps(counts)}' for code, counts in shares(found).items()]
            EVIDENCE.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
        problems = list(check(found))
        print("\n".join(problems) or "what was drawn is what was judged")
        return int(bool(problems))
    return 0


if __name__ == "__main__":
    sys.exit(main())
