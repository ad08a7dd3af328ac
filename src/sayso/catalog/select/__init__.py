"""The right few tools out of many, by the words of a message. Pure: no I/O, no SDK, no model."""
