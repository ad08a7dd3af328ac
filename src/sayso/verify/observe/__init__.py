"""Observers of a server. Each compares the states before and after a call."""
