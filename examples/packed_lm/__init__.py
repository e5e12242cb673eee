"""Train a language model on padded, bucketed and packed batches: ``python -m examples.packed_lm``."""
