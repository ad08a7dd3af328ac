"""The policy page: the policy, the use of its rules, and what-if decisions."""
