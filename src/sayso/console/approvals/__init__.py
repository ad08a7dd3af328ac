"""The approvals page: pending questions and answering."""
