"""The page of the system prompt."""
