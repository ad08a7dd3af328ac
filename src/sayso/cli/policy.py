"""`sayso policy`: write a policy, check it, and test its decisions."""

from pathlib import Path

from sayso.cli.commands import App
from sayso.cli.options import Command, Json, Output, Timeout, Yes, all_targets_of
from sayso.cli.terminal import as_json, plural, print_document, print_json, show_text
from sayso.errors import ConfigError
from sayso.policy import Policy, json_schema, load_cases, load_policy, run_case

policy = App(name="policy", help="Write a policy, check it, and test its decisions.")


@policy.command
def init(
    *target: str,
    output: Output = "policy.toml",
    yes: Yes = False,
    json: Json = False,
    timeout: Timeout = 30.0,
    command: Command = None,
) -> int:
    """Write a commented policy for your servers, to start from.

    It has guarded mode, each server's tools by level, and example rules. Lists the tools and calls
    none. Also writes policy.schema.json, so that editors check the policy. Examples: `sayso policy
    init mcp.json`, `sayso policy init -o crm.toml -- npx my-server`.

    Parameters
    ----------
    target
        Servers, as for sayso inspect. A command goes after --. Default: those that sayso discover
        finds; sayso shows them, and asks before it starts them.
    output
        The file to write. If it exists and differs, sayso shows the change and asks first.
    """
    from sayso.cli.policy_init import write_policy

    path = Path(output)
    return write_policy(target, command, path, timeout=timeout, is_sure=yes, is_json=json)


@policy.command
def check(
    *words: str,
    policy: str | None = None,
    json: Json = False,
    timeout: float = 30.0,
    command: Command = None,
) -> int:
    """Check a policy, and report every mistake with its line.

    With a target, also connect to its servers and report rules that match none of their tools. Exit
    code 2 for a mistake, 1 for a rule that matches nothing.

    Parameters
    ----------
    words
        The policy, if it ends in .toml (default: policy.toml); then targets, as for sayso inspect.
    policy
        The policy. With this option, all words are targets.
    timeout
        Seconds to wait for a server.
    """
    file, places = _file_and_places(words, policy)
    checked = read_policy(file)
    problems: list[str] = []
    unreachable: list[str] = []
    fields = {"policy": file, "mode": str(checked.mode), "rules": _names(checked)}
    if places or command:
        problems, unreachable = _unmatched(checked, places, command, timeout)
        fields |= {"unmatched": problems, "unknown_servers": unreachable}
    if json:
        print_document(fields)
        return int(bool(problems))
    rules = f"{len(checked.rules)} {plural(len(checked.rules), 'rule')}"
    head = f"{len(problems)} without a match" if problems else "no mistakes"
    show_text(f"{file}: mode {checked.mode}, {rules}, {head}")
    for line in problems:
        show_text(f"  {line}", "red")
    for line in unreachable:
        show_text(f"  {line}: no response, so its tools are unknown")
    return int(bool(problems))


def _file_and_places(words: tuple[str, ...], policy: str | None) -> tuple[str, list[str]]:
    if policy is not None:
        return policy, [*words]
    if words and (words[0].endswith(".toml") or (len(words) == 1 and _is_policy(words[0]))):
        return words[0], [*words[1:]]
    return "policy.toml", [*words]


def _is_policy(word: str) -> bool:
    path = Path(word)
    is_target = path.suffix in {".json", ".jsonc", ".py", ".js"}
    return path.is_dir() or (path.is_file() and not is_target)


def _unmatched(
    found: Policy, places: list[str], command: list[str] | None, timeout: float
) -> tuple[list[str], list[str]]:
    from sayso.cli.tool_reading import ToolListing, ask_listings
    from sayso.policy import facts_of, seen_under, unmatched, without_dry_run

    targets = all_targets_of(places, command, "policy check")
    pairs = list(zip(targets, ask_listings(targets, timeout), strict=True))
    unreachable = [target.name for target, listing in pairs if not isinstance(listing, ToolListing)]
    listed = [
        tool for _, listing in pairs if isinstance(listing, ToolListing) for tool in listing.tools
    ]
    tools = [facts_of(seen_under(found, tool)) for tool in listed]
    names = [target.name for target in targets]
    problems = unmatched(found, tools, servers=names, unknown=unreachable)
    return [*problems, *without_dry_run(found, listed)], unreachable


@policy.command(name="test")
def run_cases(file: str = "policy.toml", *, cases: str | None = None, json: Json = False) -> int:
    """Run the test cases of a policy, and show those that fail.

    Exit code 1 if a case fails.

    Parameters
    ----------
    file
        The policy.
    cases
        The file of cases. Default: policy.test.toml for policy.toml.
    """
    where = cases or str(Path(file).with_suffix(".test.toml"))
    found = read_policy(file)
    results = [run_case(found, case) for case in load_cases(_read(where), where)]
    failed = [result for result in results if result.faults]
    if json:
        tried = [result.to_dict() for result in results]
        print_document({"policy": file, "failed": len(failed), "cases": tried})
        return int(bool(failed))
    for result in failed:
        show_text(f"{where}:{result.case.line}: {result.case.name}", "red")
        for fault in result.faults:
            show_text(f"  {fault}")
    show_text(f"{len(results) - len(failed)} of {len(results)} cases passed")
    return int(bool(failed))


@policy.command
def schema(*, output: Output | None = None, yes: Yes = False) -> None:
    """Print the JSON Schema of policy.toml, for editors, or write it to a file.

    The first line of a policy names the file: #:schema ./policy.schema.json

    Parameters
    ----------
    output
        The file to write. If it exists and differs, sayso asks first.
    """
    if output is None:
        print_json(json_schema())
        return
    from sayso.cli.new_files import NewFile, write_files

    write_files([NewFile(Path(output), as_json(json_schema()))], is_sure=yes)


def read_policy(file: str | None) -> Policy:
    """Return the policy in `file`, or the default. Raises `PolicyError` and `ConfigError`."""
    return Policy() if file is None else load_policy(_read(file), file)


def _read(file: str) -> str:
    from sayso.settings import read_text

    if Path(file).is_dir():
        raise ConfigError("this is a folder", where=file, fix="Name the policy file in it.")
    return read_text(file)


def _names(found: Policy) -> list[dict[str, object]]:
    return [
        {"name": rule.name, "line": rule.line, "effect": str(rule.effect)} for rule in found.rules
    ]
