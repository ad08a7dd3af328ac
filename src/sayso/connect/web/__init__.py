"""HTTP to MCP servers: pooled connections and server-sent events.

HTTP takes most of the time that a gateway adds to a call, and the common libraries take two to
eight times as long for one exchange as this one.
"""
