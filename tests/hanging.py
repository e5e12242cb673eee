"""The timeout after which a program that a test has started is considered to hang."""

HANG_SECONDS = 600
"""Many times the duration of any of them on two busy processors."""
