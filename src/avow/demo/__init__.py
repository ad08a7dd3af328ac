"""A small real MCP server to try avow on: the customers and invoices of a design studio.

Run it with `python -m avow.demo.server [--data FILE]`, and look at a gateway in front of it with
`python -m avow.demo.client URL`. Importing this package imports no SDK.
"""
