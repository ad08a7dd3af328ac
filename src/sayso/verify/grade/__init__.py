"""Grading: how long an effect lasts, whose it is, and what is lost by it."""
