"""The rules, one file each; the registry imports every module that stands here."""
