"""HTTP to MCP servers: pooled connections and server-sent events.

Written for this purpose because it dominates the time that a gateway adds to a call: the common
libraries take two to eight times as long for one exchange.
"""
