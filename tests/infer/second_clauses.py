"""Sixty made-up tools whose texts have a second clause or a denial.

They were written before the inference was changed to read more of such texts. `SHOWN` was looked
at while it was changed; `UNSHOWN` was scored once, after the last change. Of 15 reads and 15 writes
in each half, 5 reads and 1 write of `SHOWN` were called reads before, and 4 and 3 of `UNSHOWN`. It
is 10 and 0 of `SHOWN` now, and 8 and 4 of `UNSHOWN`.
"""

from typing import Any, NamedTuple


class Made(NamedTuple):
    """A tool, and whether it only reads."""

    reads: bool
    name: str
    description: str
    parameters: tuple[str, ...]

    def to_tool(self) -> dict[str, Any]:
        properties = {name: {"type": "string"} for name in self.parameters}
        schema = {"type": "object", "properties": properties, "required": [*self.parameters]}
        return {"name": self.name, "description": self.description, "inputSchema": schema}


def writes(name: str, description: str, *parameters: str) -> Made:
    return Made(reads=False, name=name, description=description, parameters=parameters)


def reads(name: str, description: str, *parameters: str) -> Made:
    return Made(reads=True, name=name, description=description, parameters=parameters)


SHOWN = (
    writes(
        "get_unread_messages",
        "Get the unread messages of a channel and mark them as read.",
        "channel",
    ),
    writes(
        "get_next_batch",
        "Returns the next batch of events and advances the cursor of the consumer group.",
        "group",
    ),
    writes(
        "fetch_attachment",
        "Fetch an attachment of a mail. The file is saved to the downloads folder.",
        "attachment_id",
    ),
    writes(
        "list_notifications", "List notifications. Listed notifications count as seen from then on."
    ),
    writes(
        "check_inbox",
        "Check the inbox for new mail; new mail is no longer flagged as new after this call.",
    ),
    writes("get_job_result", "Get the result of a job, then release its worker.", "job_id"),
    writes("read_queue", "Read up to ten messages, which are hidden for 30 seconds.", "queue"),
    writes(
        "validate_address",
        "Validates an address and stores the corrected form in the customer's record.",
        "customer_id",
        "address",
    ),
    writes(
        "analyze_logs",
        "Analyzes the logs of a service and opens an incident if errors are found.",
        "service",
    ),
    writes("preview_campaign", "Previews a campaign by mailing it to the test group.", "id"),
    writes(
        "lookup_contact",
        "Looks up a contact by phone number. Unknown numbers are added to the address book.",
        "phone",
    ),
    writes(
        "get_access_token",
        "Returns an access token. This is not a read: the previous token is revoked.",
    ),
    writes(
        "search_catalog",
        "Search the catalog. Do not treat this as read-only, since each search is charged.",
        "query",
    ),
    writes(
        "compare_schemas",
        "Compare two schemas and apply the difference to the second one.",
        "left",
        "right",
    ),
    writes("get_survey", "Get a survey that nobody has answered yet, and assign it to the caller."),
    reads(
        "calculate_shipping",
        "Calculates the shipping costs of a parcel. Does not place an order.",
        "weight",
        "country",
    ),
    reads(
        "convert_currency",
        "Convert an amount from one currency to another, with the rate of the day.",
        "amount",
        "source",
        "target",
    ),
    reads(
        "validate_config",
        "Validate a configuration without applying it. Returns a list of errors.",
        "config",
    ),
    reads(
        "preview_invoice",
        "Preview the next invoice of a subscription. Nothing is billed or saved.",
        "subscription_id",
    ),
    reads(
        "get_deploy_history",
        "Get the history of deployments, including who started and who cancelled each.",
        "service",
    ),
    reads(
        "get_build_log",
        "Returns the log of a build; long logs are cut to the last 500 lines.",
        "build_id",
    ),
    reads(
        "list_archived_projects",
        "List archived projects. They were archived by their owners and can be restored.",
    ),
    reads(
        "check_username",
        "Checks whether a user name is free. It does not reserve the name.",
        "name",
    ),
    reads(
        "diff_versions",
        "Show what changed between two versions of a page, without changing either.",
        "page_id",
        "left",
        "right",
    ),
    reads(
        "estimate_migration",
        "Estimates how long a migration will take. Never starts the migration.",
        "plan_id",
    ),
    reads("format_sql", "Format a SQL statement. The statement is not executed.", "text"),
    reads(
        "get_retention_policy",
        "Get the policy that decides when backups are deleted and who is told.",
        "vault",
    ),
    reads(
        "list_webhooks",
        "Lists the webhooks that are called when an order is created, updated or cancelled.",
    ),
    reads(
        "explain_query_plan",
        "Explains how a query would be run, and suggests indexes that could be added.",
        "statement",
    ),
    reads(
        "download_report",
        "Download a report as CSV text. The text is returned, and no file is written.",
        "report_id",
    ),
)

UNSHOWN = (
    writes(
        "get_conversation",
        "Gets a conversation and sets all its messages to read.",
        "conversation_id",
    ),
    writes(
        "poll_changes",
        "Returns what changed since the last poll and moves the bookmark forward.",
        "feed",
    ),
    writes(
        "get_page_source",
        "Gets the source of a page and writes a copy of it to the working directory.",
        "url",
    ),
    writes("view_story", "View a story. Its author sees that you have viewed it, and it expires."),
    writes(
        "list_mentions", "Lists mentions of you. The counter of new mentions goes back to zero."
    ),
    writes(
        "get_test_result",
        "Get a test's result, and rerun the test if it is older than a day.",
        "test_id",
    ),
    writes(
        "receive_messages",
        "Receives messages from a queue. Received messages leave the queue at once.",
        "queue",
    ),
    writes(
        "check_spelling",
        "Checks the spelling of a document and corrects the mistakes in place.",
        "document_id",
    ),
    writes(
        "scan_repository",
        "Scans a repository for leaked keys and files an issue for each.",
        "repository",
    ),
    writes(
        "estimate_delivery",
        "Estimates a delivery date and holds the slot for ten minutes.",
        "order_id",
    ),
    writes(
        "find_customer",
        "Finds a customer by mail address, or makes one if there is none.",
        "address",
    ),
    writes(
        "show_recovery_codes",
        "Show recovery codes. More than a lookup: codes shown before stop being valid.",
    ),
    writes(
        "query_status",
        "Query the status of a device. Not free of side effects, because it wakes the device.",
        "device",
    ),
    writes(
        "compute_totals",
        "Compute the totals of an invoice and update the invoice with them.",
        "invoice_id",
    ),
    writes(
        "get_free_license", "Get a license that is not in use, and give it to the user.", "user"
    ),
    reads(
        "simulate_transfer",
        "Simulates a transfer and returns the fees. No money is moved.",
        "amount",
        "account",
    ),
    reads(
        "translate_text",
        "Translates a text into another language and keeps its line breaks.",
        "text",
        "language",
    ),
    reads(
        "check_policy", "Check a policy for mistakes. It is neither stored nor activated.", "policy"
    ),
    reads(
        "preview_template",
        "Render a template with sample data, so that you can see the mail before it is sent.",
        "template_id",
    ),
    reads(
        "get_change_log",
        "Get the change log of a record: who created, edited or deleted what, and when.",
        "record_id",
    ),
    reads(
        "tail_events",
        "Returns the latest events of a cluster. Events are kept for one hour and then removed.",
        "cluster",
    ),
    reads(
        "list_deleted_files",
        "List the files that were deleted in the last 30 days. Does not restore them.",
        "folder",
    ),
    reads("check_availability", "Checks which rooms are free. To book one, use book_room.", "date"),
    reads(
        "compare_plans",
        "Compares two price plans, and returns what you would pay for each.",
        "left",
        "right",
    ),
    reads(
        "forecast_demand",
        "Forecasts the demand for a product from past orders; orders are left unchanged.",
        "product_id",
    ),
    reads(
        "parse_date", "Parses a date that is written in words and returns it as ISO 8601.", "text"
    ),
    reads(
        "get_permissions",
        "Get the permissions of a role: what it may create, change, delete or approve.",
        "role",
    ),
    reads(
        "list_scheduled_jobs",
        "Lists jobs that will run within a week, with the user who scheduled each.",
    ),
    reads(
        "count_duplicates",
        "Counts rows that occur twice and would be dropped by a cleanup.",
        "table",
    ),
    reads(
        "get_attachment_text",
        "Extracts the text of an attachment. The attachment itself stays where it is.",
        "attachment_id",
    ),
)
