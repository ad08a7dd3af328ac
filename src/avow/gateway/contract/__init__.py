"""Contract mode: what counts as read-only runs where it can change nothing."""
