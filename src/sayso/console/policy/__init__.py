"""The policy page: what counts, what it was needed for, and what it would decide."""
