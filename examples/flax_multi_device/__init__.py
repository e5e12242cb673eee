"""Train with Flax on several devices and processes: ``python -m examples.flax_multi_device``."""
