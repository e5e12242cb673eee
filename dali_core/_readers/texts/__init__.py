"""Texts in files: compressed or not, with an index of their lines."""
