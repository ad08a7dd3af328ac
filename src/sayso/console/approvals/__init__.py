"""The approvals page: what waits for a person, and the answering."""
