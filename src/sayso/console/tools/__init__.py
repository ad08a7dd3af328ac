"""The tools page: every tool with its hints and their sources."""
