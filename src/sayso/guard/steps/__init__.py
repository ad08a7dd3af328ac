"""The steps of the guard, one file each, in the order of `sayso.guard.pipeline.STEPS`.

Each file ends with its step: a name, the calls that it applies to, and the function that it runs.
"""
