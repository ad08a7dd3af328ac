"""HTTP to MCP servers: connections that are kept, events that are read as they come.

Written for this alone, since what a gateway adds to a call is above all the way to the server
behind: the libraries at hand take two to eight times as long for one exchange.
"""
