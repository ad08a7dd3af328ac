"""How the property tests run."""

from hypothesis import settings

# A time limit per example says how busy the machine is, not whether the code is right.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
