"""The grants page: answers that stand, and taking them back."""
