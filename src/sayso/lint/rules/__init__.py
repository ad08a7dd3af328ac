"""One module per rule; the registry imports all modules of this package."""
