"""The page of the servers behind the gateway."""
