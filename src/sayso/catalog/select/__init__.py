"""Selection of the few tools that a message needs, by its words. Pure: no I/O, SDK or model."""
