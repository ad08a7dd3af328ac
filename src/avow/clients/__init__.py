"""Clients' configurations: putting avow in front of their servers, and taking it out again."""
