"""The audit page: calls as the log tells of them."""
