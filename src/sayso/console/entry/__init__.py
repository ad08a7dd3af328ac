"""Logins: one-time links, OpenID Connect, sessions and roles."""
