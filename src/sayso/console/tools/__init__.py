"""The tools page: every tool of every server, what it may do, and who says so."""
