"""The frontends for clients of both protocol eras, over HTTP and over stdio.

A session of the older protocol versions is a signed token (`session_token`), so any process can
answer its requests. Memory holds only active requests, streams and questions. `timeouts`
closes connections of clients that are too slow. `reply` keeps a slow client from delaying others.
"""
