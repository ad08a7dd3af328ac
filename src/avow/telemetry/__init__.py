"""What a running gateway shows of itself: metrics, traces and structured logs.

Nothing here holds arguments, results, or who called; no label holds what a caller chose freely.
"""
