"""Train on sounds in batches by their durations: ``python -m examples.speech_buckets``."""
