"""Train a small classifier on folders of photos: ``python -m examples.train_classifier``."""
