"""Readers: the order of their samples, mixtures, and what a pipeline opens."""
