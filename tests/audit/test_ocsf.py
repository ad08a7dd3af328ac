"""The log as OCSF events, held to the class *API Activity* (6003) of OCSF 1.5.0.

No package on PyPI or npm carries the schema of this class (py-ocsf-models has only findings), so
what the class requires is written here by hand, from schema.ocsf.io/1.5.0/classes/api_activity.
"""

import json
from typing import Any

import jsonschema_rs
import pytest
from tests.audit.conftest import facts

from sayso.audit import AuditLog, Outcome
from sayso.audit.exporter import export
from sayso.store import Database

pytestmark = pytest.mark.anyio

TEXT = {"type": "string", "minLength": 1}
API_ACTIVITY: dict[str, Any] = {
    "type": "object",
    "required": [
        *("activity_id", "category_uid", "class_uid", "severity_id", "time", "type_uid"),
        *("actor", "api", "metadata", "src_endpoint"),
    ],
    "properties": {
        "activity_id": {"enum": [0, 1, 2, 3, 4, 99]},
        "category_uid": {"const": 6},
        "class_uid": {"const": 6003},
        "severity_id": {"enum": [0, 1, 2, 3, 4, 5, 6, 99]},
        "status_id": {"enum": [0, 1, 2, 99]},
        "status_detail": TEXT,
        "time": {"type": "integer", "minimum": 1_000_000_000_000},
        "type_uid": {"enum": [600300, 600301, 600302, 600303, 600304, 600399]},
        "actor": {
            "type": "object",
            "properties": {"user": {"type": "object", "required": ["uid"]}},
            "required": ["user"],
        },
        "api": {
            "type": "object",
            "required": ["operation"],
            "properties": {
                "operation": TEXT,
                "service": {"type": "object", "required": ["name"]},
            },
        },
        "metadata": {
            "type": "object",
            "required": ["product", "version"],
            "properties": {
                "version": {"const": "1.5.0"},
                "uid": TEXT,
                "correlation_uid": {"type": "string"},
                "product": {"type": "object", "required": ["name", "vendor_name"]},
            },
        },
        "src_endpoint": {"type": "object", "required": ["name"]},
        "unmapped": {"type": "object"},
    },
    "additionalProperties": False,
}


async def test_every_record_is_an_event_of_the_class(store: Database, log: AuditLog) -> None:
    for outcome in Outcome:
        told = facts({"n": 1}, call=f"call-{outcome}")
        await log.attempt(told, None)
        await log.outcome(told, outcome, started=0.0)
    events = [json.loads(line) for line in export(await store.records.newest(limit=100), "ocsf")]
    assert len(events) > 2 * len(Outcome)
    validator = jsonschema_rs.Draft202012Validator(API_ACTIVITY)
    assert [error.message for event in events for error in validator.iter_errors(event)] == []
    assert all(event["type_uid"] == 600300 + event["activity_id"] for event in events)
