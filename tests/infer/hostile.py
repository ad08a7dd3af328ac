"""Texts of tools that write and that look like those of tools that read.

`TUNED` were written first and looked at while the reading of clauses was written. `HELD_OUT` were
written before it first ran: of these 32 it let 8 pass at first, 3 of them as certain, and was then
mended. They are no measure of how it handles texts that do not exist yet.

`SECOND` were written before the reading was loosened for nouns, names and sentences about results.
At first it let 7 of these 30 pass, 6 of them as certain: words in the descriptions of parameters
that are no switches (2), what a call returns ("the deleted rows", "the number of rows removed",
"those wiped"), "stops working", and "with automatic revocation". All 30 are refused now.

`THIRD` are those of 120 others that passed at first and are refused since: what is said below the
first level of a schema, of a result, by a value, or by denying that something is kept. Idioms
remain ("ends up in the shredder", "show a user the door").

`FOURTH` are those of 90 others that passed at first and are refused since: idioms, and what is said
in texts, examples, defaults and values of parameters, in results and in titles. Of the first 60, 40
passed; 30 of them were looked at while that was mended (19 passed, now 3), and 30 were not, though
they were written by the same hand (21, now 9). The last 30 were written when it was done: 18 would
have passed, 12 still do ("has to leave", "is history", "uses it up").

`FIFTH` are those of 60 more idioms that passed as certain at first and are refused since. Of the 30
that were looked at while `infer.predicates` was written 10 passed, now 2; of the 30 that were not,
10 passed, now 4.
"""

from typing import Any


def tool(name: str, description: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": description, **more}


def switch(name: str, description: str = "") -> dict[str, Any]:
    properties = {name: {"type": "boolean", "description": description}}
    return {"inputSchema": {"type": "object", "properties": properties}}


TUNED: list[dict[str, Any]] = [
    tool("show_queue", "Show the queue and purge what is stale."),
    tool("lookup_voucher", "Look up the voucher, then void it."),
    tool("get_tokens", "List active tokens and burn the expired ones."),
    tool("list_sessions", "Lists the sessions. Idle ones are terminated."),
    tool("get_mail", "Get the newest mail; it is moved to the bin afterwards."),
    tool("view_cart", "View the cart. Empties it too."),
    tool("read_counter", "Read the counter, resetting it to zero."),
    tool("peek_message", "Returns the next message and acknowledges it."),
    tool("get_seat", "Shows a seat & locks it."),
    tool("find_duplicates", "Finds duplicate rows → drops them."),
    tool("check_license", "Checks a licence. This tool is non-read-only because it renews it."),
    tool("describe_node", "Describes a node. This is not a read."),
    tool("get_report", "Does not only read the report."),
    tool("inspect_cache", "Inspects the cache (and flushes it)."),
    tool("list_holds", "List holds, release them."),
    tool("show_queue", "Muestra la cola y borra lo antiguo."),
    tool("show_queue", "Zeigt die Warteschlange und leert sie."),
    tool("show_queue", "Показать очередь и очистить её."),
    tool("show_queue", "Show the queue and pur\u0261e what is stale."),
    tool("show_queue", "Show the queue and p\u200burge what is stale."),
    tool("show_queue", "Show the queue and purg3 what is stale."),
    tool("show_queue", "Show the queue and d e l e t e what is stale."),
    tool("g\u0435t_queue", "Get the queue."),
    tool("get_qu3u3", "Get the queue and d3l3te it."),
    tool("get_voucher", "Get a voucher.", **switch("purge", "Also purge it.")),
    tool("get_voucher", "Get a voucher.", title="Void voucher"),
    tool("list_orders", "List orders. " + "They are sorted by date. " * 100 + "Then cancel them."),
    tool("show_draft", "Show the draft before deleting it."),
    tool("get_balance", "Get the balance. The account gets closed."),
    tool("voucher_void", "Look up a voucher."),
]

HELD_OUT: list[dict[str, Any]] = [
    tool("fetch_ticket", "Fetch a ticket and hand it back to its buyer for a refund."),
    tool("get_lease", "Returns the lease, and relinquishes it."),
    tool("list_alerts", "Displays open alerts plus silences those older than a day."),
    tool("scan_inbox", "Scans the inbox, quarantining suspicious mail."),
    tool("view_profile", "View a profile. Afterwards it no longer exists."),
    tool("get_coupon", "Reads the coupon code once and invalidates the code."),
    tool("search_users", "Search users; matching accounts are suspended."),
    tool("find_orphans", "Find orphaned volumes so they can be reclaimed, and reclaim them."),
    tool("audit_keys", "Audits API keys and rotates any that leaked."),
    tool("read_secret", "Reads a one-time secret which self-destructs."),
    tool("get_snapshot", "Get a snapshot while rolling the disk back to it."),
    tool("show_branches", "Show branches. Merged ones get pruned."),
    tool("check_domain", "Check a domain, registering it if free."),
    tool("get_invoice", "Get an invoice and e-mail customers."),
    tool("list_invoices", "List overdue invoices and charge cards."),
    tool("query_stock", "Query the stock level and deduct one."),
    tool("get_time", "Get the time. Never read-only."),
    tool("show_item", "A lookup that is anything but harmless."),
    tool("get_page", "Retrieves a page without side effects? No: it has side effects."),
    tool("get_note", "Gets a note. It would be wrong to call this a read."),
    tool("get_note", "Récupère une note puis la supprime."),
    tool("get_note", "ノートを表示して削除します。"),
    tool("get_note", "Holt eine Notiz und wirft sie weg."),
    tool("get_note", "Get a note and \uff44\uff45\uff4c\uff45\uff54\uff45 it."),
    tool("get_note", "Get a note and del\u00adete it."),
    tool("get_note", "Get a note and d.e.l.e.t.e it."),
    tool("show_and_tell_void", "Show what there is."),
    tool("get_note", "Get a note.", **switch("wipe_after")),
    tool("get_note", "Get a note.", annotations={"title": "Shred note"}),
    tool("get_note", "Get a note. To keep things tidy, the note goes to the shredder."),
    tool("get_note", "Compare two notes and overwrite the older."),
    tool("lookup", "Look up a record and nuke the rest."),
]


def parameter(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": description, **more}}
    return {"inputSchema": {"type": "object", "properties": properties}}


SECOND: list[dict[str, Any]] = [
    tool("list_jobs", "Lists the jobs of a queue, which is trimmed to the newest ten as it does."),
    tool("get_rows", "Gets rows from a table, purging stale rows."),
    tool("show_cache", "Shows the cache. Performs a purge of old keys."),
    tool("list_rows", "List rows. Stale rows are dropped."),
    tool("get_backups", "Get the backups so that old ones get removed."),
    tool("read_inbox", "Read the inbox. If a message is older than a week, it is deleted."),
    tool("get_page", "Get a page of results.\n\n* Note: visited pages are discarded."),
    tool("get_session", "Get a session.", **parameter("mode", "Set to 'x' to delete the session.")),
    tool("get_item", "Get an item.", **parameter("action", enum=["show", "delete"])),
    tool("get_item", "Get an item.", title="Get and remove an item"),
    tool("get_file", "Get a file.\n\nArgs:\n    path: The file, which is deleted after the read."),
    tool(
        "list_logs",
        "List the logs of a service. "
        + "Each log has a time, a level and a text. " * 60
        + "Logs that were listed are erased.",
    ),
    tool("get_expired", "Finds expired rows. Returns the deleted rows."),
    tool("check_expired", "Checks a table for expired rows. Returns the number of rows removed."),
    tool("get_message", "Returns the next message of the queue, removing it from there."),
    tool("view_trial", "View a trial. The trial starts with the first view."),
    tool("get_token", "Get a token. The old token stops working."),
    tool("find_spam", "Find spam with the option of its removal: found mail goes to the bin."),
    tool("get_draft", "Fetches a draft; publishing it is part of the call."),
    tool("get_users", "Get users. Users without a login lose their seat."),
    tool("search_orders", "Search orders. Returns matching orders. Cancels them as well."),
    tool("get_lock", "Shows who holds a lock. Breaks the lock."),
    tool("list_files", "List files.\n\nReturns:\n    The files, and the names of those wiped."),
    tool("get_quote", "Get a quote and have the order placed."),
    tool("get_invites", "Lists invites with automatic revocation of the ones that nobody took."),
    tool("status_check", "Check the status of a device. Causes a reboot."),
    tool("get_key", "Reads the key. Use this to wipe the old key too."),
    tool("list_tickets", "List tickets (closing those without an answer)."),
    tool("get_note", "Get a note.", **parameter("after", "What happens then: the note is erased.")),
    tool("get_report", "Get a report. Results are mailed to every customer."),
]


def schema(**properties: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": properties}}


def logs(text: str = "", **more: Any) -> dict[str, Any]:
    return tool("search_logs", f"Search logs. {text}".strip(), **more)


PURGE = {"type": "boolean", "description": "Deletes all matches."}
THIRD: list[dict[str, Any]] = [
    tool("get_next", "Returns the next message of the queue, which leaves the queue."),
    tool("get_secret", "Get a secret; the old one stops working."),
    tool("get_token", "Get a token; prior tokens become invalid."),
    tool("list_backups", "Lists backups (with housekeeping)."),
    tool("list_backups", "Lists backups - housekeeping included."),
    logs("Matching lines → /dev/null."),
    logs("Does not keep what it finds."),
    logs("What is found is not retained."),
    logs("Nothing that matches survives."),
    logs("It works without preserving them."),
    logs(":wastebasket: matches."),
    logs("Matches face deletion."),
    logs("Matches undergo removal."),
    logs("Matches are subject to removal."),
    logs("Subject to subsequent erasure."),
    logs("Results in data loss."),
    logs("There is no way back."),
    logs("Danger zone."),
    logs(**schema(mode={"type": "string", "enum": ["find", "delete"]})),
    logs(**schema(action={"const": "delete"})),
    logs(**schema(then={"type": "string", "default": "delete"})),
    logs(**schema(then={"anyOf": [{"const": "delete"}, {"const": "keep"}]})),
    logs(**schema(opt={"type": "object", "properties": {"delete_matches": {"type": "boolean"}}})),
    logs(**schema(delete_after={"type": ["boolean", "null"]})),
    logs(**schema(delete_after={"anyOf": [{"type": "boolean"}, {"type": "null"}]})),
    logs(**schema(opts={"type": "array", "items": {"properties": {"purge": PURGE}}})),
    logs(**schema(q={"type": "string", "title": "Deletes the logs that match"})),
    logs(inputSchema={"type": "object", "description": "Deletes matches."}),
    logs(inputSchema={"type": "object", "title": "Deletes matches"}),
    logs(inputSchema={"$ref": "#/$defs/O", "$defs": {"O": {"properties": {"purge": PURGE}}}}),
    logs(inputSchema={"oneOf": [{"properties": {"purge": PURGE}}, True]}),
    logs(
        inputSchema={
            "properties": {"q": {}, "opt": {"properties": {f"p{n}": {} for n in range(999)}}}
        }
    ),
    logs(outputSchema={"type": "object", "properties": {"deleted_count": {"type": "integer"}}}),
]


def result(**properties: Any) -> dict[str, Any]:
    return {"outputSchema": {"type": "object", "properties": properties}}


FOURTH: list[dict[str, Any]] = [
    tool("get_cart", "Get the cart of a customer. The cart ends up in the shredder."),
    tool("get_files", "Get the files of a folder. After this call the folder is as good as new."),
    tool("get_passwords", "Get the passwords of an account, one last time."),
    tool("list_snapshots", "List the snapshots of a volume and make room for new ones."),
    tool(
        "list_subscribers",
        "List the subscribers of a newsletter, minus everyone who bounced, for good.",
    ),
    tool("list_tables", "List the tables of a database and start over with a clean slate."),
    tool(
        "get_note",
        "Get a note.",
        **schema(
            note_id={
                "type": "string",
                "description": "The note to throw away once it has been read.",
            }
        ),
    ),
    tool(
        "search_users",
        "Search users.",
        **schema(
            confirm={
                "type": "boolean",
                "description": "Must be true, because accounts cannot be brought back.",
            }
        ),
    ),
    tool(
        "get_dataset",
        "Get a dataset.",
        **schema(keep={"type": "integer", "description": "How many rows stay; the rest is lost."}),
    ),
    tool(
        "view_account",
        "View an account.",
        **schema(
            password={
                "type": "string",
                "description": "To confirm that the account should be closed for ever.",
            }
        ),
    ),
    tool(
        "get_mailbox",
        "Get a mailbox.",
        **schema(
            grace={"type": "integer", "description": "Minutes until the mailbox is taken down."}
        ),
    ),
    tool(
        "get_page",
        "Get a page.",
        **schema(then={"type": "string", "enum": ["keep", "page_delete"]}),
    ),
    tool(
        "list_pods",
        "List pods.",
        **schema(step={"type": "string", "enum": ["list", "list-and-kill"]}),
    ),
    tool(
        "get_thread",
        "Get a thread.",
        **schema(after_reading={"type": "string", "default": "move to trash"}),
    ),
    tool(
        "get_record",
        "Get a record.",
        **schema(
            state={
                "type": "string",
                "default": "erased",
                "description": "State of the record after the call.",
            }
        ),
    ),
    tool(
        "search_files",
        "Search files.",
        **schema(
            path={"type": "string", "examples": ["/tmp/to-be-deleted"]},
            act={"type": "string", "examples": ["rm -rf"]},
        ),
    ),
    tool(
        "list_images",
        "List images.",
        **schema(
            kind={
                "oneOf": [
                    {"const": "all", "title": "Show all"},
                    {"const": "old", "title": "Throw out the old ones"},
                ]
            }
        ),
    ),
    tool(
        "get_license",
        "Get a license.",
        **schema(options={"type": "object", "default": {"purge_after": True}}),
    ),
    tool(
        "get_lease",
        "Get a lease.",
        inputSchema={
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "examples": [{"id": "l1", "terminate": True}],
        },
    ),
    tool(
        "get_rows",
        "Get rows.",
        **result(
            rows={"type": "array", "description": "The rows, which no longer exist in the table."}
        ),
    ),
    tool(
        "list_users",
        "List users.",
        **result(removed={"type": "array", "description": "Users that were removed by this call."}),
    ),
    tool("get_tokens", "Get tokens.", **result(revoked={"type": "array"})),
    tool(
        "get_item",
        "Get an item.",
        **result(
            was={"type": "object", "description": "The item as it was before it was destroyed."}
        ),
    ),
    tool("list_messages", "List messages.", **result(deleted={"type": "boolean"})),
    tool(
        "get_customer",
        "Get a customer.",
        outputSchema={
            "type": "object",
            "description": "Confirmation that the customer has been deleted.",
            "properties": {"id": {"type": "string"}},
        },
    ),
    tool("get_document", "Get a document.", title="Document shredder"),
    tool("get_workspace", "Get a workspace.", title="Workspace removal"),
    tool("get_site", "Get a site.", title="Take a site offline"),
    tool(
        "get_cluster",
        "Get a cluster.",
        **schema(sure={"type": "boolean", "description": "Say yes to losing all data."}),
    ),
    tool(
        "get_index",
        "Get an index.",
        **schema(action={"type": "string", "examples": ["rebuild after wiping"]}),
    ),
    tool(
        "get_disk",
        "Get a disk.",
        **schema(how={"type": "string", "enum": ["quick", "secure-erase"]}),
    ),
    tool("get_vm", "Get a VM.", **result(terminated={"type": "boolean"})),
    tool(
        "list_jobs",
        "List jobs.",
        **result(jobs={"type": "array", "description": "The jobs that were killed."}),
    ),
    tool("list_images", "List images.", title="Image purger"),
]

FIFTH: list[dict[str, Any]] = [
    tool(
        "get_reservation", "Get the reservation. Once read, the table is given to the next guest."
    ),
    tool("get_file", "Get a file. What was on the shelf is on the shelf no more."),
    tool("list_invites", "List invites. Each lands in the guest's mailbox."),
    tool("show_appointment", "Show the appointment. The slot is up for grabs again."),
    tool("list_branches", "List branches. The dead wood comes off the tree."),
    tool("list_messages", "List messages; the inbox breathes freely again."),
    tool("list_devices", "List devices. Each one forgets its owner."),
    tool("get_template", "Get the template. The old one makes place for yours."),
]
