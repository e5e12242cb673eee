"""Train a network that tells generated words apart: ``python -m examples.speech_commands``."""
