"""The rules, one file each. What stands here with a `RULE` is found by the registry."""
