"""Train a tiny network with only JAX: ``python -m examples.train_jax``."""
