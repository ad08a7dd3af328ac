"""`avow policy`: whether a policy holds together, and whether it decides as expected."""

from pathlib import Path
from typing import Final

from cyclopts import App
from rich.text import Text

from avow.cli.terminal import out, plain, print_json
from avow.errors import ConfigError
from avow.policy import Case, CaseResult, Policy, json_schema, load_cases, load_policy, run_case

_SCHEMA: Final = 1

policy = App(
    name="policy",
    help="Check a policy, and test what it decides.",
    help_format="plaintext",
)


@policy.command
def check(file: str = "policy.toml", *, json: bool = False) -> int:
    """Read a policy and report every mistake in it with its line.

    Exit code 2 when there is one.

    Parameters
    ----------
    file
        The policy.
    json
        Print one JSON document.
    """
    found = read_policy(file)
    if json:
        print_json(
            {"schema": _SCHEMA, "policy": file, "mode": str(found.mode), "rules": _names(found)}
        )
        return 0
    count = len(found.rules)
    noun = "rule" if count == 1 else "rules"
    out().print(Text(plain(f"{file}: mode {found.mode}, {count} {noun}, no mistakes")))
    return 0


@policy.command(name="test")
def run_cases(file: str = "policy.toml", *, cases: str | None = None, json: bool = False) -> int:
    """Decide the cases beside a policy, and show those that come out otherwise.

    Exit code 1 when one does.

    Parameters
    ----------
    file
        The policy.
    cases
        Where the cases are. Default: beside the policy; policy.test.toml for policy.toml.
    json
        Print one JSON document.
    """
    where = str(Path(file).with_suffix(".test.toml")) if cases is None else cases
    found = read_policy(file)
    results = [run_case(found, one) for one in _read_cases(where)]
    failed = [one for one in results if one.faults]
    if json:
        fields = [one.to_dict() for one in results]
        print_json({"schema": _SCHEMA, "policy": file, "failed": len(failed), "cases": fields})
    else:
        _print(where, results, failed)
    return int(bool(failed))


@policy.command
def schema() -> None:
    """Print the JSON Schema of policy.toml, for editors."""
    print_json(json_schema())


def read_policy(file: str) -> Policy:
    """The policy in `file`; raises `PolicyError`, or `ConfigError` where it cannot be read."""
    return load_policy(_read(file), file)


def _read_cases(file: str) -> tuple[Case, ...]:
    return load_cases(_read(file), file)


def _read(file: str) -> str:
    from avow.connect.jsonfile import read_text

    if Path(file).is_dir():
        raise ConfigError("this is not a file", where=file, fix="Name the policy in it.")
    return read_text(file)


def _names(found: Policy) -> list[dict[str, object]]:
    return [{"name": one.name, "line": one.line, "effect": str(one.effect)} for one in found.rules]


def _print(where: str, results: list[CaseResult], failed: list[CaseResult]) -> None:
    console = out()
    for one in failed:
        console.print(Text(plain(f"{where}:{one.case.line}: {one.case.name}"), style="red"))
        for fault in one.faults:
            console.print(Text(plain(f"  {fault}")))
    passed = len(results) - len(failed)
    console.print(Text(f"{passed} of {len(results)} cases are as expected"))
