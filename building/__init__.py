"""Builds the native parts of the library: used by `setup.py`, and not installed."""
