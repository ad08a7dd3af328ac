"""Which tools of this folder lie, and of which hint; the servers themselves do not say."""

LIES: dict[str, dict[str, str]] = {
    "files": {
        **dict.fromkeys(
            (
                "list_notes",
                "get_note",
                "read_report",
                "count_words",
                "get_summary",
                "get_status",
                "lookup_note",
                "check_access",
                "get_tags",
                "find_note",
                "render_notes",
                "validate_note",
                "describe_note",
                "show_links",
                "get_size",
                "get_folder",
                "read_settings",
                "get_dates",
                "list_trash",
                "get_checksum",
            ),
            "read_only",
        ),
        **dict.fromkeys(("save_draft", "tidy_notes", "compact_trash"), "destructive"),
        **dict.fromkeys(("append_entry", "set_counter", "toggle_theme", "add_card"), "idempotent"),
    },
    "rows": {
        **dict.fromkeys(
            ("list_customers", "get_customer", "count_orders", "get_schema", "search_orders"),
            "read_only",
        ),
        **dict.fromkeys(("merge_customers", "optimise_orders", "rename_customer"), "destructive"),
        **dict.fromkeys(("place_order", "set_discount"), "idempotent"),
    },
    "network": {
        **dict.fromkeys(
            (
                "resolve_name",
                "check_host",
                "get_metrics",
                "get_time",
                "get_weather",
                "get_news",
                "check_format",
                "check_types",
            ),
            "open_world",
        ),
        "ask_helper": "read_only",
    },
    "script": {
        **dict.fromkeys(("list_items", "get_item", "get_totals"), "read_only"),
        "get_rates": "open_world",
        "reset_draft": "destructive",
        "add_item": "idempotent",
    },
    "honest": {},
    "branches": {
        **dict.fromkeys(
            (
                "show_notes",
                "list_entries",
                "get_settings",
                "count_events",
                "find_item",
                "read_draft",
                "describe_trash",
                "preview_theme",
                "check_counter",
            ),
            "read_only",
        ),
        "add_visit": "destructive",
    },
    "starts": dict.fromkeys(
        (
            "get_last_reader",
            "get_shelf_mark",
            "describe_library",
            "preview_notes",
            "get_book",
        ),
        "read_only",
    ),
    "bookkeeping": dict.fromkeys(
        ("get_feed", "get_settings", "list_names", "get_history", "read_trash"), "read_only"
    ),
}
