"""Operators that read data sets, under the names that they have in NVIDIA DALI as yet."""
