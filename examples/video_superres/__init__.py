"""Train a network that doubles the resolution of videos: ``python -m examples.video_superres``."""
