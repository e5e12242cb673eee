"""Train on sounds of very different durations, in buckets: ``python -m examples.speech_buckets``."""
