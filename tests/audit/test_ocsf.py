"""The log as OCSF events, held to the schema of the class *API Activity* (6003) of OCSF 1.5.0."""

import json
from functools import cache

import jsonschema_rs
import pytest
from ocsf_json_schema import (  # pyright: ignore[reportMissingTypeStubs] - it has none
    OcsfJsonSchemaEmbedded,
    get_ocsf_schema,
)
from tests.audit.conftest import facts
from tests.sample_tools import AMY

from sayso.audit import AuditLog, Event, Outcome
from sayso.audit.exporter import export
from sayso.audit.record import make_row
from sayso.store import Database

pytestmark = pytest.mark.anyio

OTHERS = set(Event) - {Event.ATTEMPT, Event.OUTCOME, Event.REFUSED}
"""The kinds of records that no call of this test causes."""


@cache
def schema() -> jsonschema_rs.Validator:
    ocsf = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.5.0"))
    name = ocsf.lookup_class_name_from_uid(class_uid=6003)
    return jsonschema_rs.validator_for(ocsf.get_class_schema(class_name=name))


async def test_every_kind_of_record_is_an_event_of_the_class(
    store: Database, log: AuditLog
) -> None:
    for outcome in Outcome:
        told = facts({"n": 1}, call=f"call-{outcome}")
        await log.attempt(told, None)
        await log.outcome(told, outcome, started=0.0)
    await log.refused("c9", AMY, name="no_such_tool", outcome=Outcome.DENIED)
    about = {"server": "crm", "tool": "customer_delete", "severity": "notice"}
    rows = [make_row("", log.clock(), event, about, {"subject": "amy"}) for event in OTHERS]
    await store.records.append(rows, seal=log.chain)

    written = await store.records.newest(limit=100)
    events = [json.loads(line) for line in export(written, "ocsf")]
    assert {row.event for row in written} == {str(event) for event in Event}
    assert [error.message for event in events for error in schema().iter_errors(event)] == []
    assert all(event["type_uid"] == 600300 + event["activity_id"] for event in events)


async def test_the_schema_refuses_an_event_that_lacks_what_the_class_requires() -> None:
    assert not schema().is_valid({"class_uid": 6003, "category_uid": 6})
