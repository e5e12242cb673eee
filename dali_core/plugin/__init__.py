"""Iterators over pipelines, at the import paths of the reference."""
