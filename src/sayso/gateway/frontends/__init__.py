"""The frontends for clients of both protocol eras, over HTTP and over stdio.

A session of the older protocol versions is a signed token (`session_token`), so any process can
answer its requests. Memory holds only active requests, streams and questions. `timeouts` ends
connections that are too slow, and `reply` prevents a slow client from delaying others.
"""
