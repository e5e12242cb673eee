"""Train a network that finds organs in generated volumes: ``python -m examples.volumes``."""
