"""What the tools of a server are called with."""
