"""Match captions with images of several sizes: ``python -m examples.image_text``."""
