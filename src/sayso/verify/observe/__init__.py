"""Observers of a server: each looks before and after a call, and reports the changes."""
