"""Train a network that detects shapes in generated pictures: ``python -m examples.detection``."""
