"""Operators that add noise to images."""
