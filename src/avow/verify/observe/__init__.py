"""Observers: each looks at one part of the world before a call and after it."""
