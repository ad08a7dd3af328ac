"""The frontends for clients of both protocol eras, over HTTP and over stdio.

A session of the older protocol versions is a signed token (`session_token`), so any process can
answer for it; only what is in progress is kept in memory. `timeouts` bounds how slow a client may
be, and `reply` keeps one client from delaying others.
"""
