"""What stands in deploy/: of the form that its readers want, and what sayso itself understands."""

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.error import HTTPError

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs]
import pytest
import yaml
from compose_spec import PyCompose

from sayso.access import load_access
from sayso.cli.app import app
from sayso.cli.commands import Parsed
from sayso.cli.drain import PAUSE_SECONDS, TELL_SECONDS
from sayso.policy import load_policy

DEPLOY = Path(__file__).resolve().parents[1] / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
KUBERNETES = "1.33"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def documents() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        yield from yaml.safe_load_all(path.read_text())


def only(kind: str) -> dict[str, Any]:
    (found,) = (one for one in documents() if one["kind"] == kind)
    return found


def pod() -> dict[str, Any]:
    return only("Deployment")["spec"]["template"]["spec"]


def seconds(text: str) -> float:
    return float(text.removesuffix("s"))


def needed(words: list[str]) -> float:
    """How long a process with these options may take to end."""
    drain = next(seconds(one.partition("=")[2]) for one in words if one.startswith("--drain="))
    return PAUSE_SECONDS + drain + 2 * TELL_SECONDS


def test_there_is_one_of_each_kind() -> None:
    kinds = [one["kind"] for one in documents()]

    assert sorted(kinds) == [
        "ConfigMap",
        "Deployment",
        "HorizontalPodAutoscaler",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "Service",
    ]


@pytest.mark.parametrize("manifest", [*documents()], ids=lambda one: one["kind"])
def test_each_manifest_is_of_the_form_that_kubernetes_wants(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_a_manifest_of_another_form_would_be_noticed() -> None:
    manifest = only("Deployment")
    manifest["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


def test_the_compose_file_is_of_the_form_that_its_specification_wants() -> None:
    # As it is once YAML has merged the parts that the gateways share.
    PyCompose.from_yaml(yaml.safe_dump(COMPOSE))


@pytest.mark.parametrize("wrong", [{"comand": ["gateway"]}, {"restart": "sometimes"}])
def test_a_compose_file_of_another_form_would_be_noticed(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="services"):
        PyCompose.from_yaml(yaml.safe_dump({"services": {"gateway": {"image": "sayso", **wrong}}}))


GATEWAYS = [one for name, one in COMPOSE["services"].items() if name.startswith("gateway")]


@pytest.mark.parametrize(
    "words", [pod()["containers"][0]["args"], GATEWAYS[0]["command"]], ids=["kubernetes", "compose"]
)
def test_sayso_understands_the_options(words: list[str]) -> None:
    parsed = app.parse(words)

    assert isinstance(parsed, Parsed)
    assert parsed.function.__name__ == "gateway"
    assert parsed.arguments["place"].access == "/etc/sayso/access.toml"


def test_nobody_is_killed_before_calls_had_their_time() -> None:
    (container,) = pod()["containers"]

    assert pod()["terminationGracePeriodSeconds"] > needed(container["args"])
    for one in GATEWAYS:
        assert seconds(one["stop_grace_period"]) > needed(one["command"])


def test_readiness_is_asked_for_more_often_than_sayso_waits_for_it() -> None:
    probe = pod()["containers"][0]["readinessProbe"]

    assert probe["periodSeconds"] * probe["failureThreshold"] < PAUSE_SECONDS
    assert probe["httpGet"]["path"] == "/readyz"


def test_three_gateways_share_keys_and_store() -> None:
    assert len(GATEWAYS) == 3
    assert all(one["environment"] == GATEWAYS[0]["environment"] for one in GATEWAYS)
    assert "SAYSO_KEYS" in GATEWAYS[0]["environment"]
    assert GATEWAYS[0]["environment"]["SAYSO_STORE"].startswith("postgresql://")


def test_no_secret_stands_in_a_file() -> None:
    for path in (*MANIFESTS, *(one for one in DEPLOY.rglob("*") if one.is_file())):
        for line in path.read_text().splitlines():
            found = re.search(r"(?<!\{POSTGRES_)(?:PASSWORD|KEYS)\s*[:=]\s*(\S+)", line)
            assert found is None or found[1].startswith(("${", "$(")), f"{path}: {line}"
    for variable in pod()["containers"][0]["env"]:
        assert "value" not in variable


def test_containers_can_do_little() -> None:
    (container,) = pod()["containers"]
    assert pod()["securityContext"]["runAsNonRoot"]
    assert not pod()["automountServiceAccountToken"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    for one in GATEWAYS:
        assert one["read_only"]
        assert one["cap_drop"] == ["ALL"]


def test_only_replicas_reach_the_port_of_replicas() -> None:
    ports = {one["name"]: one["containerPort"] for one in pod()["containers"][0]["ports"]}
    rules = only("NetworkPolicy")["spec"]["ingress"]

    (rule,) = [one for one in rules if one["ports"][0]["port"] == ports["replicas"]]
    assert rule["from"] == [{"podSelector": only("Deployment")["spec"]["selector"]}]
    assert f"--advertise=$(POD_IP):{ports['replicas']}" in pod()["containers"][0]["args"]
    assert [one["targetPort"] for one in only("Service")["spec"]["ports"]] == ["http"]


def test_policies_and_access_can_be_loaded() -> None:
    told = only("ConfigMap")["data"]
    files = {one.name: one.read_text() for one in (DEPLOY / "config").iterdir()}
    for found in (told, files):
        load_policy(found["policy.toml"], "policy.toml")
        load_access(found["access.toml"])
    assert set(told) == set(files)


def image_steps() -> list[list[str]]:
    """Return the steps of the Dockerfile: each a keyword and the rest."""
    lines = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def test_the_image_runs_as_nobody_from_named_versions() -> None:
    steps = image_steps()
    bases = [rest.split()[0] for step, rest in steps if step == "FROM"]
    said = dict(steps)

    assert all(re.fullmatch(r"debian:\d+-slim", base) for base in bases)
    assert said["USER"] == f"{pod()['securityContext']['runAsUser']}:10001"
    assert said["ENTRYPOINT"] == '["sayso"]'
    for step, rest in steps:
        if step == "COPY" and not rest.startswith("--from"):
            for name in rest.split()[:-1]:
                assert (DEPLOY.parent / name).exists(), name


def test_the_image_asks_whether_the_gateway_is_ready() -> None:
    _, _, command = dict(image_steps())["HEALTHCHECK"].partition(" CMD ")
    program, option, code = json.loads(command)
    ports: list[int] = []

    class Answer(BaseHTTPRequestHandler):
        """Say that the gateway is not ready, at the path of readiness alone."""

        def do_GET(self) -> None:
            ports.append(503 if self.path == "/readyz" else 404)
            self.send_error(ports[-1])

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        # The same code, at a port that is free.
        probe = compile(code.replace("8321", str(server.server_port)), "HEALTHCHECK", "exec")
        Thread(target=server.handle_request).start()
        with pytest.raises(HTTPError, match="503"):
            exec(probe, {})  # noqa: S102 - committed code

    assert (program, option) == ("python", "-c")
    assert ports == [503]


def test_the_image_has_the_programs_of_verify() -> None:
    installed = [rest for step, rest in image_steps() if step == "RUN"][-1]

    assert {"bubblewrap", "strace"} <= set(installed.split())


def test_one_line_runs_the_gateway_for_one_person() -> None:
    page = (DEPLOY.parent / "docs/guides/operating.md").read_text()
    (line,) = re.findall(r"^docker run .*", page, re.MULTILINE)
    options, _, words = line.partition(" sayso gateway ")

    parsed = app.parse(["gateway", *words.split()])
    assert isinstance(parsed, Parsed)
    assert "--read-only" in options
    assert "--cap-drop ALL" in options
    assert f"{words.split()[0]}:ro" in options
