"""The steps of the guard, one file each, in the order of `avow.guard.pipeline.STEPS`."""
