"""Train a language model on padded and packed batches: ``python -m examples.packed_lm``."""
