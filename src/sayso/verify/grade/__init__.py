"""Grading of effects: lifetime, owner and loss."""
