"""Inputs for the calls of a server's tools."""
