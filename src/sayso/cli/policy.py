"""`sayso policy`: whether a policy holds together, and whether it decides as expected."""

from pathlib import Path

from cyclopts import App

from sayso.cli.options import Command, Json, targets_of
from sayso.cli.terminal import plural, print_document, print_json, show_text
from sayso.errors import ConfigError
from sayso.policy import Policy, json_schema, load_cases, load_policy, run_case

policy = App(
    name="policy", help="Check a policy, and test what it decides.", help_format="plaintext"
)


@policy.command
def check(
    *words: str,
    policy: str | None = None,
    json: Json = False,
    timeout: float = 30.0,
    command: Command = None,
) -> int:
    """Read a policy and report every mistake in it with its line.

    With a target, connect to its servers and report rules that match none of their tools. Exit
    code 2 for a mistake, 1 for a rule that matches nothing.

    Parameters
    ----------
    words
        The policy, if it ends in .toml (default: policy.toml), and targets as for sayso inspect.
    policy
        The policy. All words are targets then.
    timeout
        Seconds to wait for the servers.
    """
    file, places = _file_and_places(words, policy)
    found = read_policy(file)
    told: list[str] = []
    silent: list[str] = []
    fields = {"policy": file, "mode": str(found.mode), "rules": _names(found)}
    if places or command:
        told, silent = _unmatched(found, places, command, timeout)
        fields |= {"unmatched": told, "unknown_servers": silent}
    if json:
        print_document(fields)
        return int(bool(told))
    rules = f"{len(found.rules)} {plural(len(found.rules), 'rule')}"
    head = f"{len(told)} without a match" if told else "no mistakes"
    show_text(f"{file}: mode {found.mode}, {rules}, {head}")
    for line in told:
        show_text(f"  {line}", "red")
    for line in silent:
        show_text(f"  {line}: no answer, so its tools are unknown")
    return int(bool(told))


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
    from sayso.cli.surface import Surface, ask_surfaces
    from sayso.policy import facts_of, seen_under, unmatched, without_dry_run

    targets = targets_of(places, command)
    pairs = list(zip(targets, ask_surfaces(targets, timeout), strict=True))
    silent = [target.name for target, surface in pairs if not isinstance(surface, Surface)]
    listed = [
        tool for _, surface in pairs if isinstance(surface, Surface) for tool in surface.tools
    ]
    tools = [facts_of(seen_under(found, tool)) for tool in listed]
    names = [target.name for target in targets]
    told = unmatched(found, tools, servers=names, unknown=silent)
    return [*told, *without_dry_run(found, listed)], silent


@policy.command(name="test")
def run_cases(file: str = "policy.toml", *, cases: str | None = None, json: Json = False) -> int:
    """Decide the cases beside a policy, and show those that come out otherwise.

    Exit code 1 when one does.

    Parameters
    ----------
    file
        The policy.
    cases
        Where the cases are. Default: beside the policy; policy.test.toml for policy.toml.
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
    show_text(f"{len(results) - len(failed)} of {len(results)} cases are as expected")
    return int(bool(failed))


@policy.command
def schema() -> None:
    """Print the JSON Schema of policy.toml, for editors."""
    print_json(json_schema())


def read_policy(file: str | None) -> Policy:
    """Return the policy in `file`, else the default. Raises `PolicyError` and `ConfigError`."""
    return Policy() if file is None else load_policy(_read(file), file)


def _read(file: str) -> str:
    from sayso.settings import read_text

    if Path(file).is_dir():
        raise ConfigError("this is not a file", where=file, fix="Name the policy in it.")
    return read_text(file)


def _names(found: Policy) -> list[dict[str, object]]:
    return [
        {"name": rule.name, "line": rule.line, "effect": str(rule.effect)} for rule in found.rules
    ]
