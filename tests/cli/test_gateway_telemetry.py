"""What a gateway shows of itself: metrics, traces and its log, as its options say."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.cli.running import Started, configuration, python, sayso_process, started
from tests.connect.serving import free_port, raw_client, until
from tests.telemetry.collector import collecting

from sayso.cli.telemetry_options import parse_place
from sayso.errors import UsageError

QUICK = ("gateway", "--port", "0", "--timeout", "5", "--json", "--patience", "0.1")
ERA = "2025-11-25"


def lines(run: Started) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.err().splitlines()]


@pytest.mark.anyio
@pytest.mark.process
async def test_metrics_are_on_a_port_of_their_own(tmp_path: Path) -> None:
    port = free_port("127.0.0.1")
    store = f"sqlite:{tmp_path / 'a.db'}"
    words = (*QUICK, "--store", store, "--metrics", str(port), "--", *python("plain"))
    with started(*words) as run:
        async with raw_client(run.addresses["mcp"], ERA) as client:
            await client.call("faulty__get_array")
        page = f"http://127.0.0.1:{port}/metrics"
        async with httpx2.AsyncClient(trust_env=False) as http:
            told = await http.get(page)
            beside = await http.get(run.addresses["mcp"].replace("/mcp", "/metrics"))
        done = await anyio.to_thread.run_sync(run.end)

    assert 'sayso_calls_total{decision="allow",level="read",outcome="ok"' in told.text
    # Not where clients call: who may call tools is not who may read this.
    assert beside.status_code == 404
    assert (done.code, done.err) == (0, "")


@pytest.mark.anyio
@pytest.mark.process
async def test_every_line_of_the_log_is_json(tmp_path: Path) -> None:
    config = configuration(tmp_path / "c.json", good=python("plain"), bad=python("exits"))
    store = f"sqlite:{tmp_path / 'a.db'}"
    with started(*QUICK, "--store", store, "--log-format", "json", config) as run:
        async with raw_client(run.addresses["mcp"], ERA) as client:
            await client.call("good__delete_all")
            await client.call("good__add_crash", {"log": str(tmp_path / "log")})
        await until(lambda: "good: connected" in run.err() and "server-exited" in run.err(), 60)
        await anyio.to_thread.run_sync(run.end)
        told = lines(run)

    assert {"time", "level", "logger", "message"} <= set.intersection(*map(set, told))
    messages = [one["message"] for one in told]
    assert "good: connected, 10 tools" in messages
    assert any(re.search(r"waits for a person \(approval 1\)", one) for one in messages)
    (failure,) = [one for one in told if one["level"] == "error"]
    assert failure["error"]["code"] == "server-exited"
    ended = [one for one in told if one["message"].startswith("audit head")]
    assert ended[-1]["head"]["writer"]


@pytest.mark.anyio
@pytest.mark.process
async def test_a_log_in_json_is_a_file_of_heads(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'a.db'}"
    words = (*QUICK, "--store", store, "--log-format", "json", "--", *python("plain"))
    with started(*words) as run:
        async with raw_client(run.addresses["mcp"], ERA) as client:
            await client.call("faulty__get_array")
        done = await anyio.to_thread.run_sync(run.end)
    log = tmp_path / "log"
    log.write_text(done.err)

    verified = sayso_process("audit", "verify", "--store", store, "--heads", str(log))

    assert verified.code == 0, verified.err


@pytest.mark.process
def test_an_error_at_the_start_is_a_line_of_the_log() -> None:
    done = sayso_process(
        "gateway",
        "--port",
        "0",
        "--log-format",
        "json",
        "--metrics",
        "no",
        "--",
        *python("plain"),
    )

    (line,) = [json.loads(one) for one in done.err.splitlines() if '"error"' in one]
    assert done.code == 2
    assert line["level"] == "error"
    assert line["error"]["where"] == "--metrics"


@pytest.mark.anyio
@pytest.mark.process
async def test_traces_are_sent_where_the_environment_says(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'a.db'}"
    words = (*QUICK, "--store", store, "--otel", "--", *python("plain"))
    async with collecting() as collector:
        with started(*words, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url) as run:
            async with raw_client(run.addresses["mcp"], ERA) as client:
                await client.call("faulty__get_array")
            done = await anyio.to_thread.run_sync(run.end)

    assert done.err == ""
    assert collector.named("tools/call faulty__get_array")
    assert collector.named("sayso.audit.head")


@pytest.mark.anyio
@pytest.mark.process
async def test_a_collector_that_is_away_does_not_hold_up_the_end(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'a.db'}"
    words = (*QUICK, "--store", store, "--", *python("plain"))
    with started(*words, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9") as run:
        async with raw_client(run.addresses["mcp"], ERA) as client:
            await client.call("faulty__get_array")
        with anyio.fail_after(8):
            done = await anyio.to_thread.run_sync(run.end, abandon_on_cancel=True)

    assert done.code == 0
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464)),  # noqa: S104 - only read
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_a_place_for_metrics(text: str, place: tuple[str, int]) -> None:
    assert parse_place(text) == place


@pytest.mark.parametrize("text", ["", "host:", "x", "1.2.3.4:²"])
def test_what_is_no_place_for_metrics(text: str) -> None:
    with pytest.raises(UsageError, match="must be a port"):
        parse_place(text)


WITHOUT = """
import sys
sys.modules["prometheus_client"] = sys.modules["opentelemetry.sdk"] = None
sys.modules["opentelemetry.exporter"] = None
from sayso.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("words", [("--metrics", "0"), ("--otel",)])
@pytest.mark.process
def test_what_is_not_installed_is_named(words: tuple[str, ...], tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path / 'a.db'}")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *QUICK, *words, *store, "--", *python("plain")],
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )

    told = json.loads(done.stderr.splitlines()[-1])["error"]
    assert told["where"] == words[0]
    assert told["fix"].startswith("Install it: ")
